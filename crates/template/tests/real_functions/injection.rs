//! The functions of injection templates. Rows that begin with a `.` or name one use a sidecar's data.

use super::Rows;

pub(crate) const ROWS: Rows = &[
    (
        "isset",
        &[
            r#"isset .ObjectMeta.Annotations "a""#,
            r#"isset .ObjectMeta.Annotations "x""#,
            r#"isset .Values "a""#,
            r#"isset nil "a""#,
        ],
    ),
    (
        "excludeInboundPort",
        &[
            r#"excludeInboundPort 15020 "80,443""#,
            r#"excludeInboundPort "80" "80,443""#,
            r#"excludeInboundPort 0 "80""#,
            r#"excludeInboundPort "" "80""#,
            r#"excludeInboundPort 1 "" "#,
            r#"excludeInboundPort 1 " 80 ,, 443""#,
            r#"excludeInboundPort " 80 " "80""#,
            r#"excludeInboundPort nil "1""#,
            r#"excludeInboundPort 80 " 80""#,
        ],
    ),
    (
        "includeInboundPorts",
        &["includeInboundPorts .Spec.Containers", "includeInboundPorts nil | quote", "includeInboundPorts 1"],
    ),
    (
        "applicationPorts",
        &[
            "applicationPorts .Spec.Containers",
            "applicationPorts .Spec.InitContainers | quote",
            r#"applicationPorts "a""#,
        ],
    ),
    (
        "kubevirtInterfaces",
        &[r#"kubevirtInterfaces "a,b""#, "kubevirtInterfaces nil", r#"kubevirtInterfaces "" | quote"#],
    ),
    (
        "excludeInterfaces",
        &[r#"excludeInterfaces "a""#, "excludeInterfaces 1", r#"excludeInterfaces "" | quote"#],
    ),
    (
        "annotation",
        &[
            r#"annotation .ObjectMeta "a" "d""#,
            r#"annotation .ObjectMeta "x" 5"#,
            r#"annotation .ObjectMeta "x" nil"#,
            r#"annotation .ObjectMeta "x" true"#,
            r#"annotation nil "x" 1"#,
            r#"annotation .ObjectMeta 1 1"#,
        ],
    ),
    (
        "valueOrDefault",
        &[
            r#"valueOrDefault "" "d""#,
            r#"valueOrDefault nil "d""#,
            r#"valueOrDefault 0 "d""#,
            r#"valueOrDefault "x" "d""#,
            r#"valueOrDefault .Values.none "d""#,
            "valueOrDefault false 1",
            "valueOrDefault 1",
        ],
    ),
    (
        "toJSON",
        &["toJSON .ObjectMeta.Labels", "toJSON nil", "toJSON .Values", r#"toJSON (strdict "a" "<b>")"#],
    ),
    (
        "fromJSON",
        &[
            r#"fromJSON "{\"a\":[1]}" | toJson"#,
            r#"fromJSON "{" | toJson"#,
            r#"fromJSON "null" | toJson"#,
            "fromJSON nil",
            r#"fromJSON "1" | typeOf"#,
        ],
    ),
    (
        "structToJSON",
        &[
            "structToJSON nil",
            "structToJSON .Values",
            r#"structToJSON (float64 "nan")"#,
            r#"structToJSON (list 1 "<")"#,
            "structToJSON 1",
        ],
    ),
    (
        "protoToJSON",
        &[
            "protoToJSON .ProxyConfig",
            "protoToJSON nil",
            "protoToJSON 1",
            "protoToJSON .Values.list",
            "protoToJSON",
        ],
    ),
    (
        "formatDuration",
        &[
            "formatDuration .ProxyConfig.DrainDuration",
            "formatDuration .ProxyConfig.TerminationDrainDuration",
            "formatDuration 1",
        ],
    ),
    ("toYaml", &["toYaml .Values", "toYaml nil", "toYaml (list)", r#"toYaml "a" | quote"#, "toYaml"]),
    (
        "indent",
        &[
            r#"indent 2 "a\nb\n\nc""#,
            r#"indent 0 "a\nb""#,
            r#"indent -2 "a\nb""#,
            r#"indent 3 """#,
            "indent 1 nil",
            r#"indent 2 "a""#,
        ],
    ),
    (
        "directory",
        &[r#"directory "/a/b/c""#, r#"directory "a" | quote"#, r#"directory "a/""#, "directory nil"],
    ),
    ("contains", &[r#"contains "a" "abc""#, r#"contains "abc" "a""#, r#"contains "" """#, "contains 1 2"]),
    ("toLower", &[r#"toLower "AÉİ""#, r#"toLower """#, "toLower nil"]),
    (
        "appendMultusNetwork",
        &[
            r#"appendMultusNetwork "" "istio-cni""#,
            r#"appendMultusNetwork "a, b" "istio-cni""#,
            r#"appendMultusNetwork "a, istio-cni" "istio-cni""#,
            r#"appendMultusNetwork "[{\"name\":\"a\"}]" "istio-cni""#,
            r#"appendMultusNetwork "[{\"name\":\"istio-cni\"}]" "istio-cni""#,
            r#"appendMultusNetwork "[{\"name\":\"c\",\"namespace\":\"n\"}]" "n/c""#,
            r#"appendMultusNetwork "[{\"name\":\"c\"}]" "n/c""#,
            r#"appendMultusNetwork "[{]" "c""#,
            r#"appendMultusNetwork "[1]" "c""#,
            r#"appendMultusNetwork "[]" "c""#,
            r#"appendMultusNetwork "[null]" "c""#,
            r#"appendMultusNetwork nil "c""#,
        ],
    ),
    (
        "env",
        &[r#"env "MIZZEN_THAT_IS_NOT_SET" "d""#, r#"env "MIZZEN_THAT_IS_NOT_SET" "" | quote"#, r#"env "a""#],
    ),
    (
        "omit",
        &[
            r#"omit .ObjectMeta.Annotations "a" | toJSON"#,
            "omit .ObjectMeta.Labels | typeOf",
            r#"omit (dict "a" 1) "a""#,
            r#"omit nil "a" | toJSON"#,
        ],
    ),
    (
        "strdict",
        &[
            r#"strdict "a" "1" "b" | toJSON"#,
            "strdict | toJSON",
            "strdict 1 2",
            r#"typeOf (strdict "a" "b")"#,
        ],
    ),
    (
        "toJsonMap",
        &[
            r#"toJsonMap (strdict "a" "1" "b" "2") (strdict "a" "3")"#,
            "toJsonMap",
            "toJsonMap .ObjectMeta.Labels nil",
            r#"toJsonMap (dict "a" 1)"#,
        ],
    ),
    (
        "mergeMaps",
        &[
            r#"mergeMaps (strdict "a" "1") (strdict "b" "2") | toJSON"#,
            "mergeMaps | toJSON",
            "mergeMaps nil | toJSON",
            "mergeMaps 1",
        ],
    ),
    (
        "omitNil",
        &[
            r#"omitNil (dict "a" nil "b" (dict "c" nil) "d" (list nil 1 (dict "e" nil))) | toJson"#,
            "omitNil nil | toJson",
            "omitNil (dict) | toJson",
            "omitNil (list) | toJson",
            r#"omitNil (dict "a" nil) | toJson"#,
            r#"omitNil (dict "a" (dict) "b" nil "c" (list)) | toJson"#,
            "omitNil 1",
            "omitNil .Values | toJson",
        ],
    ),
    (
        "otelResourceAttributes",
        &[
            r#"otelResourceAttributes .MeshConfig .ObjectMeta.Annotations .ObjectMeta.Labels "ns" .Spec.Containers"#,
            r#"otelResourceAttributes nil nil nil "ns" nil | quote"#,
            r#"otelResourceAttributes .MeshConfig nil nil "ns" .Spec.InitContainers"#,
            r#"otelResourceAttributes .MeshConfig (strdict "resource.opentelemetry.io/service.version" "9") (strdict "app.kubernetes.io/version" "8") "" nil"#,
            r#"otelResourceAttributes .MeshConfig nil (strdict "app.kubernetes.io/version" "8") "" (slice .Spec.Containers 0 1)"#,
            r#"otelResourceAttributes .MeshConfig nil nil "n" (slice .Spec.Containers 0 1)"#,
        ],
    ),
    ("expandenv", &[]),
];
