/// The commands `verify`, `soak` and `demo`.
package sluice.it.proof;
