/// The history: samples of every look in a file of fixed size, and the routes that serve it.
///
/// Must not know: any other part, how a look is made, or which client draws the samples.
package sluice.agent.history;
