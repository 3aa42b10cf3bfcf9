//! `/metrics`.

use super::{Text, text::Buckets};
use crate::{
    process::Process,
    sources::{Kind, Known},
};
use mizzen_xds::{Reading, Statistics, TypeStatistics};
use std::{
    collections::BTreeMap,
    sync::{
        PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

pub(crate) fn page(process: &Process) -> String {
    let mut text = Text::default();
    about(process, &mut text);
    mesh(process, &mut text);
    sources(process, &mut text);
    if let Some(statistics) = process.statistics() {
        streams(process, &statistics, &mut text);
    }
    own(process, &mut text);
    memory(&mut text);
    text.finish()
}

fn about(process: &Process, text: &mut Text) {
    let (version, build) = (process.options.version.clone(), process.options.build.clone());
    text.family(
        "istio_build",
        "gauge",
        "Istio component build info",
        [([("component", "pilot".to_owned()), ("tag", version)], 1)],
    );
    text.family("pilot_info", "gauge", "Pilot version and build information.", [([("version", build)], 1)]);
    let uptime = process.metrics.started.elapsed().as_secs_f64();
    text.gauge("istiod_uptime_seconds", "Current istiod server uptime in seconds", uptime);
}

fn mesh(process: &Process, text: &mut Text) {
    let metrics = &process.metrics;
    text.gauge("pilot_services", "Total services known to pilot.", metrics.services.load(Relaxed));
    let kind =
        |name: &str| process.objects.list().iter().filter(|object| object.kind().name() == name).count();
    text.gauge("pilot_virt_services", "Total virtual services known to pilot.", kind("VirtualService"));
    {
        let updates = metrics.updates.lock().unwrap_or_else(PoisonError::into_inner);
        let rows = updates.iter().map(|(kind, count)| ([("type", (*kind).to_owned())], *count));
        text.family("pilot_inbound_updates", "counter", "Total number of updates received by pilot.", rows);
    }
    {
        let events = metrics.events.lock().unwrap_or_else(PoisonError::into_inner);
        let row = |((kind, what), count): (&(&str, &str), &u64)| {
            ([("event", (*what).to_owned()), ("type", (*kind).to_owned())], *count)
        };
        text.family("pilot_k8s_cfg_events", "counter", "Events from k8s config.", events.iter().map(row));
    }
    let reading = times(&metrics.snapshot_time);
    let help = "Total time in seconds Pilot takes to init pushContext.";
    text.histogram("pilot_pushcontext_init_seconds", help, &[], &reading, true);
}

fn sources(process: &Process, text: &mut Text) {
    let each = |value: fn(&Known) -> Option<u64>| {
        process
            .sources
            .iter()
            .filter_map(move |source| Some(([("source", source.name.clone())], value(source)?)))
    };
    let state = process.sources.iter().map(|source| {
        let labels = [("source", source.name.clone()), ("state", source.state().0.to_owned())];
        (labels, 1)
    });
    text.family("mizzen_source", "gauge", "The state that each source is in.", state);
    let synced = each(|source| Some(u64::from(source.is_synced())));
    text.family("mizzen_source_synced", "gauge", "Whether a source has told everything once.", synced);
    let objects = each(|source| match &source.kind {
        Kind::Watch(state) => Some(state.objects.load(Relaxed)),
        Kind::Files(reading) => Some(reading.objects.load(Relaxed)),
    });
    text.family("mizzen_source_objects", "gauge", "Objects that a source has.", objects);
    let failures = each(|source| match &source.kind {
        Kind::Watch(state) => Some(state.failures.load(Relaxed)),
        Kind::Files(reading) => Some(reading.broken.load(Relaxed)),
    });
    text.family("mizzen_source_failures", "counter", "Failures to read from a source.", failures);
    let lists = each(|source| match &source.kind {
        Kind::Watch(state) => Some(state.lists.load(Relaxed)),
        Kind::Files(_) => None,
    });
    text.family("mizzen_source_lists", "counter", "Times that everything was listed.", lists);
}

fn streams(process: &Process, statistics: &Statistics, text: &mut Text) {
    let mut versions: BTreeMap<String, u64> = BTreeMap::new();
    for connection in process.connections() {
        *versions.entry(connection.version.to_string()).or_default() += 1;
    }
    let help = "Number of endpoints connected to this pilot using XDS.";
    text.family(
        "pilot_xds",
        "gauge",
        help,
        versions.into_iter().map(|(version, count)| ([("version", version)], count)),
    );
    let types = |of: fn(&TypeStatistics) -> &AtomicU64| {
        let rows = statistics.types().map(move |(name, of_type)| (name, of(of_type).load(Relaxed)));
        rows.filter(|(_, count)| *count > 0)
            .map(|(name, count)| ([("type", name)], count))
            .collect::<Vec<_>>()
    };
    let help = "Pilot build and send errors for lds, rds, cds and eds.";
    text.family("pilot_xds_pushes", "counter", help, types(|of| &of.pushes));
    let help = "Total number of XDS responses from pilot rejected by proxy.";
    text.family("pilot_total_xds_rejects", "counter", help, types(|of| &of.rejects));
    for (name, of_type) in statistics.types() {
        if matches!(name.as_str(), "cds" | "eds" | "lds" | "rds") {
            let help = format!("Pilot rejected {} configs.", name.to_uppercase());
            text.gauge(&format!("pilot_xds_{name}_reject"), &help, of_type.rejects.load(Relaxed));
        }
    }
    let sent = types(|of| &of.bytes);
    text.family("mizzen_xds_bytes", "counter", "Bytes of resources sent.", sent);
    text.family("mizzen_xds_resources", "counter", "Resources sent.", types(|of| &of.resources));
    text.family("mizzen_xds_removals", "counter", "Removals sent.", types(|of| &of.removals));
    let plain = |counter: &AtomicU64| counter.load(Relaxed);
    let counters = [
        (
            "pilot_xds_expired_nonce",
            "Total number of XDS requests with an expired nonce.",
            &statistics.expired_nonces,
        ),
        ("pilot_xds_write_timeout", "Pilot XDS response write timeouts.", &statistics.write_timeouts),
        (
            "pilot_total_xds_internal_errors",
            "Total number of internal XDS errors in pilot.",
            &statistics.internal_errors,
        ),
        ("mizzen_xds_ack_timeouts", "Streams dropped because they did not answer.", &statistics.ack_timeouts),
        ("mizzen_xds_refused", "Streams refused.", &statistics.refused),
        (
            "mizzen_xds_bad_requests",
            "Requests that could not be read or broke a limit.",
            &statistics.bad_requests,
        ),
        ("mizzen_xds_unknown_types", "Requests for types that are not served.", &statistics.unknown_types),
        ("mizzen_xds_throttled", "Streams slowed down for sending too much.", &statistics.throttled),
        (
            "mizzen_xds_idle_closed",
            "Connections without a stream and streams without a request that were closed.",
            &statistics.idle,
        ),
        (
            "mizzen_xds_broken_connections",
            "Connections that broke a rule of HTTP/2, such as too many frames.",
            &statistics.broken,
        ),
        ("mizzen_xds_floods", "Streams closed for sending too much.", &statistics.floods),
    ];
    for (name, help, counter) in counters {
        text.counter(name, help, plain(counter));
    }
    text.gauge("pilot_xds_recv_max", "The largest request received.", plain(&statistics.largest_request));
    let help = "Total time in seconds Pilot takes to send generated configuration.";
    text.histogram("pilot_xds_send_time", help, &[], &buckets(statistics.send_time.read()), true);
    let convergence = buckets(statistics.convergence.read());
    let help = "Delay in seconds between config change and a proxy receiving all required configuration.";
    text.histogram("pilot_proxy_convergence_time", help, &[], &convergence, true);
    let help = "From the first event of a change to a stream having acknowledged all of it.";
    text.histogram("mizzen_change_to_acknowledged_seconds", help, &[], &convergence, true);
    let sized: Vec<_> =
        statistics.types().map(|(name, of)| (name, of.size.read(), of.push_time.read())).collect();
    let mut first = true;
    for (name, size, _) in sized.iter().filter(|(_, size, _)| size.count > 0) {
        let help = "Distribution of configuration sizes pushed to clients.";
        let labels = [("type", name.clone())];
        text.histogram(
            "pilot_xds_config_size_bytes",
            help,
            &labels,
            &buckets(size.clone()),
            std::mem::take(&mut first),
        );
    }
    let mut first = true;
    for (name, _, time) in sized.iter().filter(|(_, _, time)| time.count > 0) {
        let help = "Total time in seconds Pilot takes to push lds, rds, cds and eds.";
        let labels = [("type", name.clone())];
        text.histogram(
            "pilot_xds_push_time",
            help,
            &labels,
            &buckets(time.clone()),
            std::mem::take(&mut first),
        );
    }
}

fn own(process: &Process, text: &mut Text) {
    let metrics = &process.metrics;
    let read = |counter: &AtomicU64| counter.load(Relaxed);
    text.gauge("mizzen_broken_objects", "Objects that are there and do not count.", read(&metrics.problems));
    text.counter("mizzen_refused_objects", "Versions of objects that were refused.", read(&metrics.broken));
    let help = "Versions of the mesh's configuration that were refused.";
    text.counter("mizzen_refused_mesh_configurations", help, read(&metrics.refused_settings));
    text.counter("mizzen_snapshots", "Snapshots that were published.", read(&metrics.snapshots));
    let views = process.proxies.newest().map_or(0, |newest| newest.views());
    text.gauge("mizzen_views", "Views that are in use, or kept for who comes back.", views);
    text.counter(
        "mizzen_views_checked",
        "Views that were built again alone to compare.",
        read(&metrics.checked),
    );
    let help = "Views that differed from what was built alone.";
    text.counter("mizzen_view_differences", help, read(&metrics.differences));
    let help = "From the first event of a change to streams being told.";
    text.histogram("mizzen_publish_seconds", help, &[], &times(&metrics.publish_time), true);
}

fn memory(text: &mut Text) {
    // Where there is no such file, there is no such line.
    let resident = std::fs::read_to_string("/proc/self/statm").ok();
    let pages: Option<u64> = resident.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
    if let Some(pages) = pages {
        text.gauge("process_resident_memory_bytes", "Resident memory size in bytes.", pages * 4_096);
    }
}

fn buckets(reading: Reading) -> Buckets {
    Buckets { buckets: reading.buckets, count: reading.count, sum: reading.sum }
}

fn times(times: &super::Times) -> Buckets {
    let (buckets, count, sum) = times.read();
    Buckets { buckets, count, sum }
}
