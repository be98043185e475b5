/** The files that tell an agent where its model is, filled in. */
import { NO_TOKEN } from '@svc-ai/client/shared'
import type { Installation } from './installation.ts'

/** What stays itself in every format that knows double quotes, in a header, and in a shell. */
const TOKEN = /^[A-Za-z0-9._~+/=:@-]+$/

/** Path to text. The placeholders stand inside double quotes; JSON, TOML and YAML read JSON's escapes there. */
export function bound(
  { binding, placeholders }: Pick<Installation, 'binding' | 'placeholders'>,
  { url, token }: { readonly url: string; readonly token: string | null },
): Readonly<Record<string, string>> {
  const address = JSON.stringify(url).slice(1, -1)
  const key = token !== null && isPlainToken(token) ? token : NO_TOKEN
  // Split before anything is put in, so that no value is searched for placeholders.
  const filled = (text: string): string =>
    text
      .split(placeholders.url)
      .map((part) => part.replaceAll(placeholders.token, () => key))
      .join(address)
  return Object.fromEntries(Object.entries(binding).map(([path, text]) => [path, filled(text)]))
}

/** Any other token would be an injection into somebody's settings; it is used from the environment alone. */
export const isPlainToken = (token: string): boolean => TOKEN.test(token)
