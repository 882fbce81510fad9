/// Faults: a hostile tenant, a swapped file, a full disk, killed and stopped processes, pid namespaces.
package sluice.it.hostile;
