/** Why a call to another server came to nothing. The text is for whoever gave the address: it tells nothing of where we stand. */
export type FaultCode = 'dns' | 'connect' | 'tls' | 'timeout' | 'blocked_address' | 'plain_http';

export class CallFault extends Error {
  readonly code: FaultCode;
  constructor(code: FaultCode, options?: ErrorOptions) {
    super(texts[code], options);
    this.name = 'CallFault';
    this.code = code;
  }
}

const texts: Record<FaultCode, string> = {
  dns: 'The name of the host was not found.',
  connect: 'No connection to the host was had, or it broke.',
  tls: 'The host has no valid certificate.',
  timeout: 'The host did not answer in time.',
  blocked_address: 'The host is not at a public address.',
  plain_http: 'Public addresses are called by https alone.',
};
