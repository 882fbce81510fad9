/// The node program of a cluster with the real agent, library and programs. Kubelet and the API server are the fakes of its own tests.
package sluice.it.kubernetes;
