// What an application that knows nothing but an address finds out from it: RFC 9728, and the pointer that every 401 carries.

/** The resource an assistant is pointed at: the address its user pastes. */
export const mcpUrl = (baseUrl: string): string => `${baseUrl}/v1/mcp`;

/** Where the document of that resource lies: beside the root, its own path behind. */
export const resourceMetadataPath = '/.well-known/oauth-protected-resource/v1/mcp';

export const resourceMetadataUrl = (baseUrl: string): string => `${baseUrl}${resourceMetadataPath}`;

/** Which tokens the resource takes, and who gives them. It names no scopes: clients would ask for every one of them. */
export const resourceMetadata = (baseUrl: string) => ({
  resource: mcpUrl(baseUrl),
  authorization_servers: [new URL(baseUrl).origin],
  bearer_methods_supported: ['header'],
  resource_name: 'Forecourt',
  resource_documentation: `${baseUrl}/docs`,
});
