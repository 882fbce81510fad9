/// The page for Prometheus: names, labels and values, ours and those of HAMi and Alnair.
///
/// It keeps no state: every value comes from the look that is scraped. Must not know: how a look is made.
package sluice.agent.metrics;
