/// The config file of the agent, the settings of its core, and the places of its files.
///
/// Parts declare their own settings. Must not know: the parts, or what a setting of theirs means.
package sluice.agent.settings;
