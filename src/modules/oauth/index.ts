export { registerApp, revokeApp } from './apps.ts';
export type { ConnectedApp } from './connections.ts';
export { connectedApps, disconnectApp } from './connections.ts';
export type { Consent } from './consent.ts';
export { approve, decline, readConsent } from './consent.ts';
export { authorisationServer, issuerOf } from './metadata.ts';
