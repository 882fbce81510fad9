/// GPU time: caps, weights, and work that is hard to hold to a cap.
package sluice.it.compute;
