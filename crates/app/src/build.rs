//! Files → Spec, in one pass over everything that was written.

use crate::{
    blame::Blame,
    cross, depends,
    files::Files,
    front::{
        self, FrontEnd,
        decode::{Decode, brief},
        shape::Fields,
        syntax,
    },
    index::Index,
    layers::Layers,
    made::{Made, Origin, Unread},
    manifests, naming,
    platform::{self, PLATFORM, Platform},
    problem::{On, Problem},
    project::{self, Chosen},
    release::Owner,
    render::Renderer,
    setting::{ObjectName, Setting},
    spec::{Resource, Spec},
    whereabouts::{self, Places, Whereabouts},
    workload,
};
use mizzen_text::{At, Code, Diagnostic, Path, Severity, Step, nearest, yaml::Document};
use serde_json::Value;
use std::collections::BTreeSet;

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
    pub whereabouts: Whereabouts,
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
    let mut told = Vec::new();
    if let Some(Err(predicate)) = choice.cluster.as_deref().map(syntax::label_value) {
        told.push(Diagnostic::new(Code::AppValue, format!("the cluster's name {predicate}")));
    }
    if let Some(Err(predicate)) = choice.namespace.as_deref().map(syntax::label) {
        told.push(Diagnostic::new(Code::AppValue, format!("the namespace {predicate}")));
    }
    let (base, platform) = match (project::base(files), Given::read(files, choice)) {
        (Ok(base), platform) => (base, platform),
        (Err(more), platform) => {
            told.extend(platform.told.into_iter().chain(more));
            return Built::refused(told);
        }
    };
    told.extend(project::strays(files, &base.value));
    match project::chosen(&base.value, choice.stack.as_deref()) {
        Chosen::One(chain) => one(files, choice, base, platform, &chain, told),
        Chosen::None { problems, chains } => {
            // Of each stack that could have been meant all that is wrong with it, so that nobody has to ask for one after the other.
            let layers = Layers::new(vec![base], None);
            told.extend(problems.into_iter().map(|problem| layers.diagnostic(problem)));
            told.extend(platform.told);
            for chain in chains {
                let Ok(base) = project::base(files) else { continue };
                let built = one(files, choice, base, Given::read(files, choice), &chain, Vec::new());
                told.extend(built.diagnostics);
            }
            Built::refused(in_order(told))
        }
    }
}

/// Each once, as somebody reads the files, whatever found it.
fn in_order(mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let start = |diagnostic: &Diagnostic| {
        let place = diagnostic.place.as_ref();
        let start = place.and_then(|place| place.span.as_ref()).map(|span| span.start);
        (place.map(|place| place.source.name().to_owned()), start)
    };
    diagnostics.sort_by_key(start);
    // What stands below several blocks is wrong in each of them.
    let mut seen = BTreeSet::new();
    diagnostics.retain(|diagnostic| {
        let place = diagnostic.place.is_some();
        !place || seen.insert((start(diagnostic), diagnostic.code, diagnostic.message.clone()))
    });
    diagnostics
}

/// The platform's file.
struct Given {
    platform: Platform,
    document: Option<Document>,
    told: Vec<Diagnostic>,
}

impl Given {
    fn read(files: &dyn Files, choice: &Choice) -> Self {
        let nothing = |told| Self { platform: Platform::of(&Fields::new()), document: None, told };
        let file = choice.platform.as_deref();
        let source = match files.file(file.unwrap_or(PLATFORM)) {
            Err(diagnostic) => return nothing(vec![*diagnostic]),
            Ok(None) if let Some(file) = file => {
                let diagnostic = Diagnostic::new(Code::AppFile, format!("there is no file {file}"));
                return nothing(vec![diagnostic.hint("--platform names the platform's file")]);
            }
            Ok(None) => return nothing(Vec::new()),
            Ok(Some(source)) => source,
        };
        match project::document(&source) {
            Err(told) => nothing(told),
            Ok(None) => nothing(Vec::new()),
            Ok(Some(mut document)) => {
                let mut told = std::mem::take(&mut document.warnings);
                let (platform, problems) = platform::read(&document.value);
                let layers = Layers::new(vec![document], None);
                told.extend(problems.into_iter().map(|problem| layers.diagnostic(problem)));
                Self { platform, document: layers.into_only(), told }
            }
        }
    }
}

/// The application in one of its stacks.
fn one(
    files: &dyn Files,
    choice: &Choice,
    mut base: Document,
    platform: Given,
    chain: &[String],
    mut told: Vec<Diagnostic>,
) -> Built {
    told.append(&mut base.warnings);
    told.extend(platform.told);
    let (overlays, more) = project::overlays(files, chain);
    told.extend(more);
    let Some(overlays) = overlays else { return Built::refused(in_order(told)) };
    let documents = [base].into_iter().chain(overlays).collect();
    let layers = Layers::new(documents, platform.document);
    let stack = chain.last().cloned().unwrap_or_default();
    let (mut built, places) = Builder::new(&layers, stack, &platform.platform, choice).build(files, told);
    built.whereabouts = Whereabouts::files(layers, platform.platform, places);
    built
}

struct Builder<'a> {
    layers: &'a Layers,
    platform: &'a Platform,
    setting: Setting,
    head: Fields,
    problems: Vec<Problem>,
    not_for_apply: Vec<Diagnostic>,
}

impl<'a> Builder<'a> {
    fn new(layers: &'a Layers, env: String, platform: &'a Platform, choice: &Choice) -> Self {
        let nobody = Setting::default();
        let mut decode = Decode::new(&nobody);
        let empty = Fields::new();
        let written = layers.merged.as_object().unwrap_or(&empty);
        let head = decode.fields(&project::BLOCK, written, &At::TOP, &[]);
        let text = |name: &str| head.get(name).and_then(Value::as_str).map(str::to_owned);
        let app = text("name").unwrap_or_default();
        let stack = head.get("stacks").and_then(|stacks| stacks.get(&env));
        let cluster = stack.and_then(|stack| stack["cluster"].as_str()).map(str::to_owned);
        let setting = Setting {
            namespace: choice.namespace.clone().or_else(|| text("namespace")).unwrap_or_else(|| app.clone()),
            app,
            env,
            cluster: choice.cluster.clone().or(cluster),
            own: std::collections::BTreeMap::new(),
            gateway_selector: platform.gateway_selector.clone(),
            local: choice.local,
        };
        let problems = decode.problems;
        Self { layers, platform, setting, head, problems, not_for_apply: Vec::new() }
    }

    fn build(mut self, files: &dyn Files, mut diagnostics: Vec<Diagnostic>) -> (Built, Places) {
        self.own_names();
        let blocks = self.blocks();
        let mut made = Vec::new();
        for (object, attribute) in workload::objects(&self.setting, self.platform, &self.head) {
            made.push(Made { object, origin: Origin::Workload(attribute), unread: Vec::new() });
        }
        let mut manifests = manifests::read(files, &self.head, &self.setting.namespace);
        diagnostics.append(&mut manifests.diagnostics);
        diagnostics.extend(manifests.forbidden(self.platform));
        let Setting { app, env, namespace, .. } = self.setting.clone();
        diagnostics.extend(manifests.records(&Owner { app, stack: env, namespace }));
        made.append(&mut manifests.made);
        let renderer = Renderer { setting: &self.setting, platform: self.platform, head: &self.head };
        for (front, key) in blocks {
            let written = &self.layers.merged["istio"][front.word][&key];
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
        // One that cannot be named is only looked at.
        let is_named = |one: &Made| match &one.origin {
            Origin::Block { key, .. } => syntax::key(key).is_ok(),
            _ => true,
        };
        let (made, unnamed): (Vec<Made>, Vec<Made>) = made.into_iter().partition(is_named);
        let blame = Blame { layers: self.layers, manifests: &manifests.documents, renderer };
        let problems = std::mem::take(&mut self.problems);
        diagnostics.extend(problems.into_iter().map(|problem| blame.layers.diagnostic(problem)));
        for one in made.iter().chain(&unnamed) {
            blame.check(one, &mut diagnostics);
        }
        let index = Index::of(&made);
        diagnostics.extend(cross::check(&made, &index, &blame));
        let edges = depends::edges(&made, &index);
        let ids: Vec<String> = made.iter().map(Made::id).collect();
        let (origins, objects) = whereabouts::parted(made);
        let resources = ids.into_iter().zip(objects).zip(edges);
        let resources =
            resources.map(|((id, object), depends_on)| Resource::new(id, object, depends_on)).collect();
        let built = Built {
            spec: Spec { resources },
            diagnostics: in_order(diagnostics),
            not_for_apply: self.not_for_apply,
            app: self.setting.app.clone(),
            stack: self.setting.env.clone(),
            namespace: self.setting.namespace.clone(),
            whereabouts: Whereabouts::default(),
        };
        let (setting, head) = (self.setting, self.head);
        (built, Places { manifests: manifests.documents, setting, head, origins })
    }

    /// Every block under `istio`, named; in the order of the Spec.
    fn blocks(&mut self) -> Vec<(&'static FrontEnd, String)> {
        let Some(istio) = self.layers.merged.get("istio").and_then(Value::as_object) else {
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
                    let message = format!("the key `{}` {predicate}", brief(key));
                    self.problems.push(Problem::new(Code::AppName, path, On::Key, message));
                    // No object comes of it, but what is wrong with its block is told, too: under a name that is good.
                    let name = ObjectName {
                        namespace: self.setting.namespace.clone(),
                        name: front.word.to_lowercase(),
                    };
                    self.setting.own.insert((front.word, key.clone()), name);
                } else {
                    self.named(front, key, block, path);
                }
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
            self.not_for_apply.push(self.layers.diagnostic(problem.clone()));
            self.problems.push(Problem { severity: Severity::Warning, ..problem });
        }
    }

    /// A name that was made and that no API server takes: the Spec can be looked at, but not applied.
    fn not_for_apply(&mut self, path: Path, message: &str) {
        let problem = Problem::new(Code::AppName, path, On::Key, message);
        let mut refused = self.layers.diagnostic(problem.clone());
        let hint = match self.layers.platform_key("nameTemplate") {
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
