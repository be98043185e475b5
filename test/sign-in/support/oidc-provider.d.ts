/** The part of `oidc-provider` that the tests use. */
declare module 'oidc-provider' {
  import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'

  interface Grant {
    addOIDCScope(scope: string): void
    save(): Promise<string>
  }
  interface Context {
    readonly oidc: {
      readonly provider: Provider
      readonly client: { readonly clientId: string }
      readonly session: { readonly accountId: string }
    }
  }
  export class Provider {
    constructor(issuer: string, settings: Readonly<Record<string, unknown>>)
    readonly Grant: new (of: { readonly clientId: string; readonly accountId: string }) => Grant
    callback(): RequestListener
    interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>
    on(event: string, listener: (context: Context, error: Error) => void): void
  }
  export type { Context }
}
