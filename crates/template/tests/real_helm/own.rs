//! Charts of our own, for what Istio's charts do not use. Each is a list of files; `values.yaml` of the user is `-`.

pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) files: &'static [(&'static str, &'static str)],
    pub(crate) values: &'static str,
}

const TOP: (&str, &str) = ("Chart.yaml", "apiVersion: v2\nname: top\nversion: 1.0.0\nappVersion: '2.0'\n");
const SUB: (&str, &str) = ("charts/sub/Chart.yaml", "apiVersion: v2\nname: sub\nversion: 0.1.0\n");
const DUMP: &str = "kind: Dump\nname: {{ .Template.Name }}\nbase: {{ .Template.BasePath }}\nroot: {{ .Chart.IsRoot }}\n\
                    chart: {{ .Chart.Name }}\nvalues: {{ .Values | toJson | quote }}\n";

pub(crate) const RENDERED: &[Case] = &[
    Case {
        name: "a sub-chart gets the values under its name and the globals",
        files: &[
            TOP,
            ("values.yaml", "own: 1\nglobal: {a: 1, deep: {x: 1, y: 2}}\nsub: {from: parent, map: {p: 1}}\n"),
            ("templates/dump.yaml", DUMP),
            SUB,
            (
                "charts/sub/values.yaml",
                "from: sub\nlist: [1, 2]\nmap: {q: 2}\nglobal: {a: 9, b: 2, deep: {y: 3, z: 4}}\n",
            ),
            ("charts/sub/templates/dump.yaml", DUMP),
        ],
        values: "sub: {map: {r: 3}, list: [3]}\nglobal: {c: 3}\n",
    },
    Case {
        name: "a user's null removes a default, of sub-charts, too",
        files: &[
            TOP,
            ("values.yaml", "a: 1\nb: {c: 1, d: 2}\nsub: {e: 5, m: {n: 1, o: 2}}\n"),
            ("templates/dump.yaml", DUMP),
            SUB,
            ("charts/sub/values.yaml", "e: 1\nf: 2\nm: {p: 3}\n"),
            ("charts/sub/templates/dump.yaml", DUMP),
        ],
        values: "a: null\nb: {c: null}\nsub: {f: null, m: {n: null}}\n",
    },
    Case {
        name: "conditions and tags decide which sub-charts take part",
        files: &[
            (
                "Chart.yaml",
                "apiVersion: v2\nname: top\nversion: 1.0.0\ndependencies:\n\
                 - {name: one, version: 0.1.0, repository: '', condition: 'one.enabled,global.one'}\n\
                 - {name: two, version: '*', repository: '', tags: [back, front]}\n\
                 - {name: three, version: '>=0.1', repository: '', tags: [back], condition: three.enabled}\n\
                 - {name: four, version: '~0.1', repository: '', tags: [none]}\n",
            ),
            (
                "values.yaml",
                "tags: {back: false, front: true, none: false}\none: {enabled: false}\nthree: {enabled: true}\n",
            ),
            ("templates/dump.yaml", DUMP),
            ("charts/one/Chart.yaml", "apiVersion: v2\nname: one\nversion: 0.1.0\n"),
            ("charts/one/templates/dump.yaml", DUMP),
            ("charts/two/Chart.yaml", "apiVersion: v2\nname: two\nversion: 0.1.0\n"),
            ("charts/two/templates/dump.yaml", DUMP),
            ("charts/three/Chart.yaml", "apiVersion: v2\nname: three\nversion: 0.1.0\n"),
            ("charts/three/templates/dump.yaml", DUMP),
            ("charts/four/Chart.yaml", "apiVersion: v2\nname: four\nversion: 0.1.0\n"),
            ("charts/four/templates/dump.yaml", DUMP),
        ],
        values: "",
    },
    Case {
        name: "one chart takes part under several aliases",
        files: &[
            (
                "Chart.yaml",
                "apiVersion: v2\nname: top\nversion: 1.0.0\ndependencies:\n\
                 - {name: sub, version: 0.1.0, repository: '', alias: first}\n\
                 - {name: sub, version: 0.1.0, repository: '', alias: second, condition: second.on}\n\
                 - {name: sub, version: 0.1.0, repository: ''}\n",
            ),
            (
                "templates/dump.yaml",
                "kind: Dump\nsubs: {{ keys .Subcharts | sortAlpha | toJson }}\nfirst: {{ .Subcharts.first.Values.who }}\n",
            ),
            SUB,
            ("charts/sub/values.yaml", "who: nobody\n"),
            ("charts/sub/templates/dump.yaml", DUMP),
        ],
        values: "first: {who: one}\nsecond: {who: two, on: true}\n",
    },
    Case {
        name: "a parent imports values of its sub-chart",
        files: &[
            (
                "Chart.yaml",
                "apiVersion: v2\nname: top\nversion: 1.0.0\ndependencies:\n\
                 - name: sub\n  version: 0.1.0\n  repository: ''\n  import-values:\n  - data\n  - {child: inner.part, parent: taken.over}\n  - {child: nowhere, parent: x}\n",
            ),
            ("values.yaml", "taken: {over: {k: parent}}\nport: 1\n"),
            ("templates/dump.yaml", DUMP),
            SUB,
            (
                "charts/sub/values.yaml",
                "exports: {data: {port: 80, host: h}}\ninner: {part: {k: child, l: child}}\n",
            ),
            ("charts/sub/templates/dump.yaml", DUMP),
        ],
        values: "",
    },
    Case {
        name: "a sub-chart's sub-chart is switched by its own parent's condition",
        files: &[
            (
                "Chart.yaml",
                "apiVersion: v2\nname: top\nversion: 1.0.0\ndependencies: [{name: sub, version: 0.1.0, repository: ''}]\n",
            ),
            (
                "charts/sub/Chart.yaml",
                "apiVersion: v2\nname: sub\nversion: 0.1.0\ndependencies:\n- {name: deep, version: 1.x, repository: '', condition: deep.on}\n- {name: deeper, version: 1.x, repository: '', condition: deeper.on}\n",
            ),
            ("charts/sub/values.yaml", "deep: {on: true}\ndeeper: {on: true}\n"),
            ("charts/sub/templates/dump.yaml", DUMP),
            ("charts/sub/charts/deep/Chart.yaml", "apiVersion: v2\nname: deep\nversion: 1.2.3\n"),
            ("charts/sub/charts/deep/templates/dump.yaml", DUMP),
            ("charts/sub/charts/deeper/Chart.yaml", "apiVersion: v2\nname: deeper\nversion: 1.2.3\n"),
            ("charts/sub/charts/deeper/templates/dump.yaml", DUMP),
        ],
        values: "sub: {deeper: {on: false}}\n",
    },
    Case {
        name: "a library chart gives named templates only",
        files: &[
            TOP,
            ("templates/a.yaml", "kind: A\nlabels: {{- include \"lib.labels\" . | nindent 2 }}\n"),
            ("charts/lib/Chart.yaml", "apiVersion: v2\nname: lib\nversion: 0.1.0\ntype: library\n"),
            (
                "charts/lib/templates/_labels.tpl",
                "{{ define \"lib.labels\" }}app: {{ .Chart.Name }}\nrelease: {{ .Release.Name }}{{ end }}",
            ),
            ("charts/lib/templates/broken.yaml", "kind: Never\nx: {{ fail \"never\" }}\n"),
        ],
        values: "",
    },
    Case {
        name: "the last parsed definition of a name wins, and an empty one wins nothing",
        files: &[
            TOP,
            ("templates/_a.tpl", "{{ define \"x\" }}from a{{ end }}{{ define \"y\" }}y from a{{ end }}"),
            (
                "templates/_b.tpl",
                "{{ define \"x\" }}from b{{ end }}{{ define \"y\" }}  {{/* nothing */}} {{ end }}",
            ),
            ("templates/out.yaml", "kind: Out\nx: {{ include \"x\" . }}\ny: {{ include \"y\" . }}\n"),
            SUB,
            ("charts/sub/templates/_c.tpl", "{{ define \"x\" }}from sub{{ end }}"),
        ],
        values: "",
    },
    Case {
        name: "templates run from the last name to the first on one root",
        files: &[
            TOP,
            ("values.yaml", "seen: {}\n"),
            ("templates/a.yaml", "kind: A\nseen: {{ .Values.seen | toJson }}\nnew: {{ .Values.new }}\n"),
            (
                "templates/m.yaml",
                "kind: M\nseen: {{ .Values.seen | toJson }}\n{{- $_ := set .Values.seen \"m\" .Template.Name }}\n",
            ),
            (
                "templates/z.yaml",
                "{{- $_ := set .Values.seen \"z\" 1 }}{{ $_ := set $ \"Values\" (merge (dict \"new\" \"root\") .Values) }}",
            ),
            (
                "templates/deep/b.yaml",
                "kind: B\nseen: {{ .Values.seen | toJson }}\n{{- $_ := set .Values.seen \"deep\" true }}\n",
            ),
        ],
        values: "",
    },
    Case {
        name: "hooks come last, unknown hooks not at all, kinds in their order",
        files: &[
            TOP,
            (
                "templates/all.yaml",
                "kind: Deployment\nmetadata: {name: d}\n---\nkind: Zebra\nmetadata: {name: z}\n---\nkind: Ant\nmetadata: {name: a}\n---\nkind: Service\nmetadata: {name: s}\n--- \nkind: Namespace\nmetadata: {name: n}\n---\n# only a comment\n---\n\n---\nkind: ServiceAccount\n",
            ),
            (
                "templates/hooks.yaml",
                "kind: Job\nmetadata: {name: j, annotations: {helm.sh/hook: 'post-install, pre-upgrade', helm.sh/hook-weight: '5'}}\n---\nkind: Pod\nmetadata: {name: t, annotations: {helm.sh/hook: test}}\n---\nkind: ConfigMap\nmetadata: {name: c, annotations: {helm.sh/hook: PRE-INSTALL, helm.sh/hook-weight: '-5'}}\n---\nkind: Job\nmetadata: {name: u, annotations: {helm.sh/hook: crd-install}}\n",
            ),
            ("templates/NOTES.txt", "Thank you for {{ .Chart.Name }}.\n"),
            ("templates/plain.txt", "kind: Text\n"),
        ],
        values: "",
    },
    Case {
        name: "files are a chart's own",
        files: &[
            TOP,
            ("one.txt", "one\ntwo\n"),
            ("conf/a.conf", "a: b\n"),
            ("conf/deep/b.conf", "line\n  indented: \"yes\"\n\ttab\n"),
            ("conf/c.json", "{\"x\": \"<y>\"}"),
            (
                "templates/files.yaml",
                "kind: Files\nget: {{ .Files.Get \"one.txt\" | quote }}\nnone: {{ .Files.Get \"none\" | quote }}\n\
                 sub: {{ .Files.Get \"charts/sub/own.txt\" | quote }}\nlines: {{ .Files.Lines \"one.txt\" | toJson }}\n\
                 nolines: {{ .Files.Lines \"none\" | toJson }}\nconfig:\n{{ (.Files.Glob \"conf/**\").AsConfig | indent 2 }}\n\
                 secrets:\n{{ (.Files.Glob \"conf/*\").AsSecrets | indent 2 }}\nglob:\n\
                 {{- range $path, $_ := .Files.Glob \"{conf,x}/**.conf\" }}\n- {{ $path }}: {{ $.Files.Get $path | quote }}\n{{- end }}\n\
                 bytes: {{ .Files.GetBytes \"one.txt\" | toString | quote }}\ncount: {{ len .Files }}\n",
            ),
            SUB,
            ("charts/sub/own.txt", "sub's"),
            (
                "charts/sub/templates/files.yaml",
                "kind: Files\nown: {{ .Files.Get \"own.txt\" }}\nparents: {{ .Files.Get \"one.txt\" | quote }}\n",
            ),
        ],
        values: "",
    },
    Case {
        name: "includes nest, and tpl knows all names",
        files: &[
            TOP,
            (
                "values.yaml",
                "text: '{{ include \"outer\" . }} {{ .Values.n }}'\nn: 3\nlocal: '{{ define \"l\" }}local {{ . }}{{ end }}{{ include \"l\" 1 }}'\n",
            ),
            (
                "templates/_t.tpl",
                "{{ define \"inner\" }}<{{ .Values.n }}>{{ end }}{{ define \"outer\" }}[{{ include \"inner\" . }}{{ template \"inner\" . }}]{{ end }}",
            ),
            (
                "templates/a.yaml",
                "kind: A\na: {{ tpl .Values.text . | quote }}\nb: {{ tpl .Values.local . }}\nmissing: {{ .Values.missing }}\nnested: {{ tpl \"{{ tpl .Values.text . }}\" . | quote }}\n",
            ),
        ],
        values: "",
    },
    Case {
        name: "a schema lets good values through",
        files: &[
            TOP,
            (
                "values.schema.json",
                r##"{"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "required": ["port"], "properties": {"port": {"type": "integer", "minimum": 1}, "sub": {"type": "object"}}}"##,
            ),
            ("templates/dump.yaml", DUMP),
            SUB,
            ("charts/sub/values.schema.json", r#"{"properties": {"name": {"pattern": "^[a-z]+$"}}}"#),
            ("charts/sub/templates/dump.yaml", DUMP),
        ],
        values: "port: 80\nsub: {name: abc}\n",
    },
    Case {
        name: "capabilities, release and chart can be asked",
        files: &[
            (
                "Chart.yaml",
                "apiVersion: v2\nname: top\nversion: 1.0.0\nkubeVersion: '>=1.20.0-0'\ndescription: some\nhome: https://example.org\nkeywords: [a, b]\n\
                 maintainers: [{name: me, email: me@example.org}]\nannotations: {x: 'y'}\nicon: i\nsources: [s]\n",
            ),
            (
                "templates/a.yaml",
                "kind: A\nkube: {{ .Capabilities.KubeVersion.Version }} {{ .Capabilities.KubeVersion.Major }} {{ .Capabilities.KubeVersion.Minor }} {{ .Capabilities.KubeVersion.GitVersion }} {{ .Capabilities.KubeVersion }}\n\
                 has: {{ .Capabilities.APIVersions.Has \"apps/v1\" }} {{ .Capabilities.APIVersions.Has \"apps/v9\" }}\n\
                 new: {{ semverCompare \">=1.30-0\" .Capabilities.KubeVersion.Version }}\n\
                 release: {{ .Release.Name }} {{ .Release.Namespace }} {{ .Release.IsInstall }} {{ .Release.IsUpgrade }} {{ .Release.Revision }} {{ .Release.Service }}\n\
                 chart: {{ .Chart.Name }} {{ .Chart.Version }} {{ .Chart.AppVersion }} {{ .Chart.Description }} {{ .Chart.Home }} {{ .Chart.Keywords }} {{ (index .Chart.Maintainers 0).Name }} {{ .Chart.Annotations.x }} {{ .Chart.APIVersion }} {{ .Chart.Type }} {{ .Chart.Deprecated }} {{ .Chart.Icon }} {{ .Chart.Sources }}\n",
            ),
        ],
        values: "",
    },
    Case {
        name: "requirements.yaml counts in charts of the first version",
        files: &[
            ("Chart.yaml", "name: top\nversion: 1.0.0\n"),
            (
                "requirements.yaml",
                "dependencies:\n- {name: sub, version: 0.1.0, repository: '', condition: sub.on}\n",
            ),
            (
                "templates/dump.yaml",
                "kind: Dump\nreq: {{ .Files.Get \"requirements.yaml\" | quote }}\nsubs: {{ keys .Subcharts | toJson }}\n",
            ),
            SUB,
            ("charts/sub/templates/dump.yaml", DUMP),
        ],
        values: "sub: {on: false}\n",
    },
];

pub(crate) const REFUSED: &[(Case, &str)] = &[
    (
        Case {
            name: "values that do not fit the schema",
            files: &[
                TOP,
                ("values.schema.json", r#"{"properties": {"port": {"type": "integer"}}}"#),
                ("templates/a.yaml", "kind: A"),
            ],
            values: "port: many\n",
        },
        "port",
    ),
    (
        Case {
            name: "values of a sub-chart that do not fit its schema",
            files: &[
                TOP,
                SUB,
                ("charts/sub/values.schema.json", r#"{"required": ["name"]}"#),
                ("templates/a.yaml", "kind: A"),
            ],
            values: "",
        },
        "name",
    ),
    (
        Case {
            name: "a failing template",
            files: &[TOP, ("templates/a.yaml", "kind: A\nx: {{ fail \"no way\" }}\n")],
            values: "",
        },
        "no way",
    ),
    (
        Case {
            name: "a failing note",
            files: &[TOP, ("templates/NOTES.txt", "{{ fail \"removed value\" }}\n")],
            values: "",
        },
        "removed value",
    ),
    (
        Case {
            name: "a required value",
            files: &[TOP, ("templates/a.yaml", "x: {{ required \"give x\" .Values.x }}\n")],
            values: "",
        },
        "give x",
    ),
    (
        Case {
            name: "a field of nothing",
            files: &[TOP, ("templates/a.yaml", "\n\nx: {{ .Values.x.y }}\n")],
            values: "",
        },
        "nil pointer evaluating",
    ),
    (
        Case {
            name: "a template that cannot be parsed",
            files: &[TOP, ("templates/a.yaml", "x: {{ if }}\n")],
            values: "",
        },
        "templates/a.yaml:1",
    ),
    (
        Case {
            name: "an unknown function",
            files: &[TOP, ("templates/a.yaml", "x: {{ nosuch 1 }}\n")],
            values: "",
        },
        "nosuch",
    ),
    (
        Case {
            name: "a template that includes itself",
            files: &[
                TOP,
                ("templates/a.yaml", "{{ define \"x\" }}{{ include \"x\" . }}{{ end }}{{ include \"x\" . }}"),
            ],
            values: "",
        },
        "x",
    ),
    (
        Case {
            name: "a dependency that is not there",
            files: &[
                (
                    "Chart.yaml",
                    "apiVersion: v2\nname: top\nversion: 1.0.0\ndependencies: [{name: gone, version: 1.0.0, repository: ''}]\n",
                ),
                ("templates/a.yaml", "kind: A"),
            ],
            values: "",
        },
        "gone",
    ),
    (
        Case {
            name: "another Kubernetes",
            files: &[
                ("Chart.yaml", "apiVersion: v2\nname: top\nversion: 1.0.0\nkubeVersion: '<1.20'\n"),
                ("templates/a.yaml", "kind: A"),
            ],
            values: "",
        },
        "<1.20",
    ),
    (
        Case {
            name: "a library alone",
            files: &[
                ("Chart.yaml", "apiVersion: v2\nname: top\nversion: 1.0.0\ntype: library\n"),
                ("templates/_a.tpl", ""),
            ],
            values: "",
        },
        "library",
    ),
    (Case { name: "no chart", files: &[("values.yaml", "")], values: "" }, "Chart.yaml"),
    (
        Case { name: "no version", files: &[("Chart.yaml", "apiVersion: v2\nname: top\n")], values: "" },
        "version",
    ),
    (
        Case {
            name: "a wrong version",
            files: &[("Chart.yaml", "apiVersion: v2\nname: top\nversion: new\n")],
            values: "",
        },
        "new",
    ),
    (
        Case {
            name: "a wrong type",
            files: &[("Chart.yaml", "apiVersion: v2\nname: top\nversion: 1.0.0\ntype: thing\n")],
            values: "",
        },
        "type",
    ),
    (
        Case { name: "broken default values", files: &[TOP, ("values.yaml", "a: [1,\n")], values: "" },
        "values.yaml",
    ),
    (
        Case {
            name: "output that is no YAML",
            files: &[TOP, ("templates/a.yaml", "kind: A\n  b: [\n")],
            values: "",
        },
        "templates/a.yaml",
    ),
    (
        Case {
            name: "no map for a sub-chart",
            files: &[TOP, SUB, ("templates/a.yaml", "kind: A")],
            values: "sub: 3\n",
        },
        "sub",
    ),
];
