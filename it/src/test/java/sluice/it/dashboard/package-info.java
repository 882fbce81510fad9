/// The agent's page in a real browser.
package sluice.it.dashboard;
