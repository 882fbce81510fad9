/// The agent with real tenants: planning, audit, registration, several users.
package sluice.it.agent;
