package recorder

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
)

// A client of a cluster that a test has made up.
type client interface {
	Kube() kubernetes.Interface
	Dynamic() dynamic.Interface
}

// describeClient is what the cluster holds of the objects that Istio asks for, in their order, without what the cluster
// itself writes into them, such as the time.
func describeClient(of client) Argument {
	objects := []any{}
	felix := schema.GroupVersionResource{Group: "projectcalico.org", Version: "v3", Resource: "felixconfigurations"}
	if found, err := of.Dynamic().Resource(felix).Get(context.Background(), "default", metav1.GetOptions{}); err == nil {
		found.SetManagedFields(nil)
		objects = append(objects, found.Object)
	}
	found, err := of.Kube().CoreV1().ConfigMaps("kube-system").Get(context.Background(), "cilium-config", metav1.GetOptions{})
	if err == nil {
		found.SetManagedFields(nil)
		found.APIVersion, found.Kind = "v1", "ConfigMap"
		objects = append(objects, found)
	}
	return plain("kube.Client", objects)
}
