/** Addresses of the inside: of this machine, of private networks, and those at which clouds answer questions about a machine. */
import dns, { type LookupOptions } from 'node:dns'
import { BlockList, isIP, isIPv6, type LookupFunction } from 'node:net'

const INSIDE = new BlockList()
for (const [net, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  // The relays of 6to4: what answers there depends on the network that asks.
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const)
  INSIDE.addSubnet(net, bits, 'ipv4')
for (const [net, bits] of [
  ['::', 127],
  ['64:ff9b:1::', 48],
  // Teredo: a tunnel to an address of version 4 that only its relay knows.
  ['2001::', 32],
  ['fc00::', 7],
  ['fe80::', 9],
  ['ff00::', 8],
] as const)
  INSIDE.addSubnet(net, bits, 'ipv6')

/** An address of version 6 that stands for one of version 4: mapped, translated, compatible, by NAT64, or by 6to4. Only the first groups tell. */
const EMBEDDED: readonly { readonly groups: readonly number[]; readonly at: number }[] = [
  { groups: [0, 0, 0, 0, 0, 0xff_ff], at: 6 },
  { groups: [0, 0, 0, 0, 0xff_ff, 0], at: 6 },
  { groups: [0, 0, 0, 0, 0, 0], at: 6 },
  { groups: [0x64, 0xff_9b, 0, 0, 0, 0], at: 6 },
  { groups: [0x20_02], at: 1 },
]

/** Of an address in numbers. */
function isInsideAddress(address: string): boolean {
  if (!isIPv6(address)) return INSIDE.check(address, 'ipv4')
  const groups = groupsOf(address)
  const hidden = EMBEDDED.find((form) => form.groups.every((group, index) => group === groups[index]))
  return INSIDE.check(address, 'ipv6') || (hidden !== undefined && INSIDE.check(fourth(groups.slice(hidden.at, hidden.at + 2)), 'ipv4'))
}

/** The eight groups; the URL parser writes them all the same way, whatever the spelling. */
function groupsOf(address: string): readonly number[] {
  const [plain = ''] = address.split('%', 1)
  const [head = '', tail] = new URL(`http://[${plain}]`).hostname.slice(1, -1).split('::')
  const [before, after] = [written(head), written(tail)]
  return [...before, ...Array.from<number>({ length: Math.max(0, 8 - before.length - after.length) }).fill(0), ...after]
}

const written = (groups = ''): number[] => groups.split(':').flatMap((group) => (group === '' ? [] : Number.parseInt(group, 16)))

const fourth = ([high = 0, low = 0]: readonly number[]): string => [high >> 8, high & 255, low >> 8, low & 255].join('.')

/** An address, or a range of them such as 10.1.0.0/16. */
export function isAddressRange(text: string): boolean {
  const [address = '', bits, more] = text.split('/', 3)
  const version = isIP(address)
  return (
    version !== 0 && more === undefined && (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 6 ? 128 : 32)))
  )
}

/** What is allowed of the inside: names of hosts, addresses, and ranges such as 10.1.0.0/16. */
export class InsideAddresses {
  readonly #names = new Set<string>()
  readonly #ranges = new BlockList()

  constructor(allowed: readonly string[]) {
    for (const one of allowed) {
      const [address = '', bits] = one.split('/', 2)
      const family = isIPv6(address) ? 'ipv6' : 'ipv4'
      if (isIP(address) === 0) this.#names.add(one.toLowerCase())
      else if (bits === undefined) this.#ranges.addAddress(address, family)
      else this.#ranges.addSubnet(address, Number(bits), family)
    }
  }

  /** Whether the host of an address is refused for what it says: a number of the inside, or this machine's name. A name may turn out so later. */
  refusesHost(url: string): boolean {
    const host = new URL(url).hostname
      .replace(/^\[|\]$/g, '')
      .replace(/\.$/, '')
      .toLowerCase()
    if (this.#names.has(host)) return false
    if (isIP(host) !== 0) return this.#refuses(host)
    return /(?:^|\.)localhost$/.test(host) && this.#refuses('127.0.0.1')
  }

  /** Resolves names for a connection, and fails where one leads inside: the address that was looked at is the one that is used. */
  readonly lookup: LookupFunction = (name, options, callback) => {
    const every: LookupOptions & { all: true } = { ...options, all: true }
    dns.lookup(name, every, (error, addresses) => {
      const [first] = error === null ? addresses : []
      if (first === undefined) return callback(error ?? notFound(name), '', 0)
      if (!this.#names.has(name.toLowerCase()) && addresses.some(({ address }) => this.#refuses(address)))
        return callback(leadsInside(), '', 0)
      if (options.all === true) return callback(null, addresses)
      callback(null, first.address, first.family)
    })
  }

  #refuses(address: string): boolean {
    const [plain = ''] = address.split('%', 1)
    return isInsideAddress(plain) && !this.#ranges.check(plain, isIPv6(plain) ? 'ipv6' : 'ipv4')
  }
}

/** The code of a connection that was not made. */
export const INSIDE_ADDRESS = 'ERR_INSIDE_ADDRESS'

const leadsInside = (): NodeJS.ErrnoException =>
  Object.assign(new Error('the name leads to an address of the inside'), { code: INSIDE_ADDRESS })
const notFound = (name: string): NodeJS.ErrnoException => Object.assign(new Error(`no address of ${name} is known`), { code: 'ENOTFOUND' })
