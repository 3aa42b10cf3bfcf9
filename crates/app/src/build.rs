//! Files → Spec, in one pass over everything that was written.

use crate::{
    blame::Blame,
    cross, depends,
    files::Files,
    front::{self, FrontEnd, decode::Decode, shape::Fields, syntax},
    index::Index,
    made::{Made, Origin, Unread},
    manifests, naming,
    platform::{self, PLATFORM, Platform},
    problem::{On, Problem},
    project::{self, Project},
    render::Renderer,
    setting::{ObjectName, Setting},
    spec::{Resource, Spec},
    workload,
};
use mizzen_text::{At, Code, Diagnostic, Path, Severity, Step, nearest};
use serde_json::Value;

/// What is built.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// Which of several stacks.
    pub stack: Option<String>,
    /// The cluster, instead of the stack's.
    pub cluster: Option<String>,
    /// The platform's file, instead of the one beside `app.yaml`.
    pub platform: Option<String>,
    /// The namespace, instead of the application's own.
    pub namespace: Option<String>,
    /// For a mesh on this machine, whose pods have other labels than a workload's.
    pub local: bool,
}

#[derive(Debug, Default)]
pub struct Built {
    /// Of an application with errors it is not whole.
    pub spec: Spec,
    pub diagnostics: Vec<Diagnostic>,
    /// Names that can be built, but that no API server takes: nothing may be sent before this is empty.
    pub not_for_apply: Vec<Diagnostic>,
    /// Whose it is.
    pub app: String,
    pub stack: String,
    pub namespace: String,
}

impl Built {
    pub fn accepted(&self) -> bool {
        self.diagnostics.iter().all(|diagnostic| diagnostic.severity != Severity::Error)
    }

    fn refused(diagnostics: Vec<Diagnostic>) -> Self {
        Self { diagnostics, ..Self::default() }
    }
}

pub fn build(files: &dyn Files, choice: &Choice) -> Built {
    let mut diagnostics = Vec::new();
    if let Some(Err(predicate)) = choice.cluster.as_deref().map(syntax::label_value) {
        diagnostics.push(Diagnostic::new(Code::AppValue, format!("the cluster's name {predicate}")));
    }
    if let Some(Err(predicate)) = choice.namespace.as_deref().map(syntax::label) {
        diagnostics.push(Diagnostic::new(Code::AppValue, format!("the namespace {predicate}")));
    }
    let file = choice.platform.as_deref();
    let mut platform_document = None;
    let mut platform = Platform::of(&Fields::new());
    match files.file(file.unwrap_or(PLATFORM)) {
        Err(diagnostic) => diagnostics.push(*diagnostic),
        Ok(None) if let Some(file) = file => {
            let message = format!("there is no file {file}");
            diagnostics
                .push(Diagnostic::new(Code::AppFile, message).hint("--platform names the platform's file"));
        }
        Ok(None) => {}
        Ok(Some(source)) => match project::document(&source) {
            Err(more) => diagnostics.extend(more),
            Ok(document) => {
                let (read, problems) = platform::read(&document.value);
                platform = read;
                let layers = crate::layers::Layers::new(vec![document], None);
                diagnostics.extend(problems.into_iter().map(|problem| layers.diagnostic(problem)));
                platform_document = layers.into_only();
            }
        },
    }
    match project::read(files, choice.stack.as_deref(), platform_document) {
        Err(more) => {
            diagnostics.extend(more);
            Built::refused(diagnostics)
        }
        Ok(project) => Builder::new(&project, &platform, choice).build(files, diagnostics),
    }
}

struct Builder<'a> {
    project: &'a Project,
    platform: &'a Platform,
    setting: Setting,
    head: Fields,
    problems: Vec<Problem>,
    not_for_apply: Vec<Diagnostic>,
}

impl<'a> Builder<'a> {
    fn new(project: &'a Project, platform: &'a Platform, choice: &Choice) -> Self {
        let nobody = Setting::default();
        let mut decode = Decode::new(&nobody);
        let empty = Fields::new();
        let written = project.layers.merged.as_object().unwrap_or(&empty);
        let head = decode.fields(&project::BLOCK, written, &At::TOP, &[]);
        let text = |name: &str| head.get(name).and_then(Value::as_str).map(str::to_owned);
        let app = text("name").unwrap_or_default();
        let stack = head.get("stacks").and_then(|stacks| stacks.get(&project.stack));
        let cluster = stack.and_then(|stack| stack["cluster"].as_str()).map(str::to_owned);
        let setting = Setting {
            namespace: choice.namespace.clone().or_else(|| text("namespace")).unwrap_or_else(|| app.clone()),
            app,
            env: project.stack.clone(),
            cluster: choice.cluster.clone().or(cluster),
            own: std::collections::BTreeMap::new(),
            gateway_selector: platform.gateway_selector.clone(),
            local: choice.local,
        };
        let problems = decode.problems;
        Self { project, platform, setting, head, problems, not_for_apply: Vec::new() }
    }

    fn build(mut self, files: &dyn Files, mut diagnostics: Vec<Diagnostic>) -> Built {
        self.own_names();
        let blocks = self.blocks();
        let mut made = Vec::new();
        for (object, attribute) in workload::objects(&self.setting, self.platform, &self.head) {
            made.push(Made { object, origin: Origin::Workload(attribute), unread: Vec::new() });
        }
        let mut manifests = manifests::read(files, &self.head, &self.setting.namespace);
        diagnostics.append(&mut manifests.diagnostics);
        diagnostics.extend(manifests.forbidden(self.platform));
        made.append(&mut manifests.made);
        let renderer = Renderer { setting: &self.setting, platform: self.platform, head: &self.head };
        for (front, key) in blocks {
            let written = &self.project.layers.merged["istio"][front.word][&key];
            let mut rendered = renderer.render(front, &key, written, false);
            let unread: Vec<Unread> = rendered.problems.iter().filter_map(Unread::of).collect();
            self.problems.append(&mut rendered.problems);
            let origin = Origin::Block { front, key: key.clone(), asked_by: None };
            made.push(Made { object: rendered.object, origin, unread: unread.clone() });
            if let Some((object, asked_by)) = rendered.beside {
                let origin = Origin::Block { front, key, asked_by: Some(asked_by) };
                made.push(Made { object, origin, unread });
            }
        }
        let blame = Blame { layers: &self.project.layers, manifests: &manifests.documents, renderer };
        let problems = std::mem::take(&mut self.problems);
        diagnostics.extend(problems.into_iter().map(|problem| blame.layers.diagnostic(problem)));
        for one in &made {
            blame.check(one, &mut diagnostics);
        }
        let index = Index::of(&made);
        diagnostics.extend(cross::check(&made, &index, &blame));
        // As somebody reads the files, whatever found it.
        diagnostics.sort_by_key(|diagnostic| {
            let place = diagnostic.place.as_ref();
            let start = place.and_then(|place| place.span.as_ref()).map(|span| span.start);
            (place.map(|place| place.source.name().to_owned()), start)
        });
        let edges = depends::edges(&made, &index);
        let resources = made.into_iter().zip(edges);
        let resources =
            resources.map(|(made, depends_on)| Resource::new(made.id(), made.object, depends_on)).collect();
        Built {
            spec: Spec { resources },
            diagnostics,
            not_for_apply: self.not_for_apply,
            app: self.setting.app,
            stack: self.setting.env,
            namespace: self.setting.namespace,
        }
    }

    /// Every block under `istio`, named; in the order of the Spec.
    fn blocks(&mut self) -> Vec<(&'static FrontEnd, String)> {
        let Some(istio) = self.project.layers.merged.get("istio").and_then(Value::as_object) else {
            return Vec::new();
        };
        let field = |name: &str| Step::Field(name.to_owned());
        for word in istio.keys().filter(|word| front::called(word).is_none()) {
            let words = front::ALL.iter().map(|front| front.word);
            let hint = match nearest(word, words.clone()) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("there are {}", words.collect::<Vec<_>>().join(", ")),
            };
            let path = Path(vec![field("istio"), field(word)]);
            let message = format!("there is no attribute `{word}` here");
            self.problems.push(Problem::new(Code::AppUnknown, path, On::Key, message).hint(hint));
        }
        let mut blocks = Vec::new();
        for front in front::ALL {
            let Some(written) = istio.get(front.word).filter(|written| !written.is_null()) else { continue };
            let path = Path(vec![field("istio"), field(front.word)]);
            let Some(written) = written.as_object() else {
                let predicate = "must be a map of blocks, each under a name of your own";
                self.problems.push(Problem::of(Code::AppType, path, On::Value, predicate));
                continue;
            };
            if !self.platform.allows(front.kind) {
                let message = format!("the platform does not allow {}", front.kind.name());
                let hint = format!("{PLATFORM} lists the kinds that are allowed under `allowedKinds`");
                self.problems.push(Problem::new(Code::AppForbidden, path, On::Key, message).hint(hint));
                continue;
            }
            for (key, block) in written.iter().filter(|(_, block)| !block.is_null()) {
                let path = Path(vec![field("istio"), field(front.word), field(key)]);
                if let Err(predicate) = syntax::key(key) {
                    self.problems.push(Problem::of(Code::AppName, path, On::Key, &predicate));
                    continue;
                }
                self.named(front, key, block, path);
                blocks.push((front, key.clone()));
            }
        }
        blocks
    }

    /// The name and the namespace of a block's object.
    fn named(&mut self, front: &'static FrontEnd, key: &str, block: &Value, path: Path) {
        let text = |name: &str| block.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        let namespace = text("namespace").unwrap_or(&self.setting.namespace).to_owned();
        let made = naming::name(&self.setting.app, &self.setting.env, front, key, self.platform);
        let name = text("name").map_or(made, str::to_owned);
        // Without the application's name no name is right, and that is told already.
        let known = text("name").is_some() || !self.setting.app.is_empty();
        if let Some(predicate) = naming::refused(front.kind, &name).filter(|_| known) {
            let message = format!("Kubernetes refuses the name `{name}`: it {predicate}");
            if text("name").is_some() {
                let path = Path(path.0.into_iter().chain([Step::Field("name".to_owned())]).collect());
                self.problems.push(Problem::new(Code::AppName, path, On::Value, message));
            } else {
                self.not_for_apply(path, &message);
            }
        }
        self.setting.own.insert((front.word, key.to_owned()), ObjectName { namespace, name });
    }

    /// What is named after the application itself, if it cannot be.
    fn own_names(&mut self) {
        let app = self.setting.app.clone();
        if app.is_empty() {
            return;
        }
        let path = || Path(vec![Step::Field("name".to_owned())]);
        if let Err(predicate) = syntax::label_value(&self.setting.instance()) {
            let message =
                format!("the label `app.kubernetes.io/instance`, `{}`, {predicate}", self.setting.instance());
            self.problems.push(Problem::new(Code::AppName, path(), On::Value, message));
        }
        let namespace = syntax::label(&app).err().filter(|_| self.setting.namespace == app);
        let service = syntax::service(&app).err().filter(|_| self.head.contains_key("workload"));
        for (what, predicate, hint) in [
            ("namespace", namespace, "`namespace` names another"),
            ("Service", service, "the workload's objects have the application's name"),
        ] {
            let Some(predicate) = predicate else { continue };
            let message = format!("Kubernetes refuses the {what} `{app}`: it {predicate}");
            let problem = Problem::new(Code::AppName, path(), On::Value, message).hint(hint);
            self.not_for_apply.push(self.project.layers.diagnostic(problem.clone()));
            self.problems.push(Problem { severity: Severity::Warning, ..problem });
        }
    }

    /// A name that was made and that no API server takes: the Spec can be looked at, but not applied.
    fn not_for_apply(&mut self, path: Path, message: &str) {
        let problem = Problem::new(Code::AppName, path, On::Key, message);
        let mut refused = self.project.layers.diagnostic(problem.clone());
        let hint = match self.project.layers.platform_key("nameTemplate") {
            Some(place) => {
                refused = refused.at(place).hint("the platform's `nameTemplate` makes it");
                "the platform's `nameTemplate` makes it; it can be built, but not applied"
            }
            None => {
                "it is made of the application's name and the block's key; `name` in the block is another"
            }
        };
        self.not_for_apply.push(refused);
        self.problems.push(Problem { severity: Severity::Warning, ..problem.hint(hint) });
    }
}
