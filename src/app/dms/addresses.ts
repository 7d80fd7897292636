/** Where the pages are. */
export const at = {
  home: '/',
  signIn: '/sign-in',
  signOut: '/sign-out',
  consent: '/oauth/consent',
  connectedApps: '/administration/developers/connected-apps',
  disconnect: '/administration/developers/connected-apps/disconnect',
} as const;

/** A page with a request to connect, which goes along until it is decided. */
export const withRequest = (address: string, request: string | null): string =>
  request === null ? address : `${address}?${new URLSearchParams({ request })}`;

/** Where somebody goes on who has signed in: to the request they came with, or the page they asked for, and to no address of anybody else's. */
export function afterSignIn({ request, wanted }: { readonly request: string | null; readonly wanted: string | null }): string {
  if (request !== null) return withRequest(at.consent, request);
  return [at.connectedApps].find((address) => address === wanted) ?? at.home;
}
