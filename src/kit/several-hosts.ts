/** Reads addresses that may name several hosts, as those of databases do: `postgres://user@one:5432,two:5432/name`. */

/** One address for each host; empty for a text that is none. */
export function addressesIn(text: string): readonly URL[] {
  const [, before = '', hosts = '', after = ''] = /^([a-z][a-z0-9+.-]*:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/is.exec(text) ?? []
  const addresses = hosts.split(',').map((host) => `${before}${host}${after}`)
  return addresses.every((address) => URL.canParse(address)) ? addresses.map((address) => new URL(address)) : []
}
