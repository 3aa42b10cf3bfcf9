//! The objects of tags beside those that the real istioctl makes, from Istio's charts and the same cluster.
#![allow(clippy::unwrap_used, reason = "a test may end at a surprise")]

mod upstream;

use std::process::Command;

use mizzen_cluster::Cluster;
use mizzen_install::tag::Tag;
use mizzen_testkit::{ApiServer, Controllers, Result, needs, tools};
use mizzen_text::{
    Source,
    yaml::{self, Options},
};
use serde_json::{Value, json};
use upstream::{live, module};

const NEEDS: &[&str] = &["istioctl", "modules/istio"];
const GROUP: &str = "admissionregistration.k8s.io";

fn istioctl(server: &ApiServer, args: &[&str]) -> String {
    let mut command = Command::new(tools::command("istioctl").unwrap());
    command.args(args).arg("-d").arg(module("manifests")).env("KUBECONFIG", server.kubeconfig_file());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Go writes out the fields that nobody has set.
fn parsed(text: &str) -> Vec<Value> {
    let source = Source::new("istioctl", text.as_bytes());
    let documents = yaml::load_all(&source, &Options::KUBERNETES);
    let objects = documents.map(|document| document.unwrap().value).map(|mut object| {
        object.as_object_mut().unwrap().remove("status");
        for port in object.pointer_mut("/spec/ports").and_then(Value::as_array_mut).into_iter().flatten() {
            if port["targetPort"] == 0 {
                port.as_object_mut().unwrap().remove("targetPort");
            }
        }
        object
    });
    objects.collect()
}

#[tokio::test]
async fn the_objects_of_a_tag_are_those_that_istioctl_makes() -> Result<()> {
    needs!(Controllers::NEEDS, NEEDS);
    let server = ApiServer::start().await?;
    server.controllers().await?;
    istioctl(&server, &["install", "-y", "--set", "profile=minimal"]);
    istioctl(&server, &["install", "-y", "--set", "profile=minimal", "--revision", "canary"]);
    // What istiod would have written into its webhooks.
    let bundle = r#"[{"op":"add","path":"/webhooks/0/clientConfig/caBundle","value":"Q0E="},{"op":"add","path":"/metadata/annotations","value":{"note":"kept"}}]"#;
    let webhook = "mutatingwebhookconfiguration/istio-sidecar-injector-canary";
    server.kubectl(&["patch", webhook, "--type=json", "-p", bundle]).await?;
    let cluster = Cluster::new(server.client()?, "test").await.unwrap();
    let validators =
        cluster.list(GROUP, "ValidatingWebhookConfiguration", "istio.io/tag=default").await.unwrap();
    assert_eq!(validators.len(), 1, "the installer has made a default");

    let mut compared = 0;
    for revision in ["default", "canary"] {
        let labels = format!("istio.io/rev={revision},!istio.io/tag");
        let canonical = cluster.list(GROUP, "MutatingWebhookConfiguration", &labels).await.unwrap();
        assert_eq!(canonical.len(), 1, "{canonical:?}");
        for (name, more) in [
            ("prod", &[][..]),
            ("default", &[]),
            ("default", &["--auto-inject-namespaces"]),
            ("prod", &["--webhook-name", "mine"]),
        ] {
            let ours = Tag {
                name: name.to_owned(),
                namespace: "istio-system".to_owned(),
                auto_inject: more.contains(&"--auto-inject-namespaces"),
                webhook_name: more.contains(&"--webhook-name").then(|| "mine".to_owned()),
                user_managed: true,
                validator: validators.first().cloned(),
                ..Tag::default()
            };
            let ours = ours.objects(&canonical[0], &live()).unwrap();
            let args = ["tag", "generate", name, "--revision", revision, "--overwrite"];
            let theirs = parsed(&istioctl(&server, &[&args, more].concat()));
            assert_eq!(json!(ours), json!(theirs), "{name} of {revision} {more:?}");
            compared += ours.len();
        }
    }
    assert_eq!(compared, 2 * (2 + 3 + 3 + 2));
    Ok(())
}
