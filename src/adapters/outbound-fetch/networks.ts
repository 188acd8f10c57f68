import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6
/** Networks that may be asked although they lie inward. */
export type Networks = readonly (readonly [Address, number])[]

/** Parses a list of networks (CIDR) and addresses. Throws a RangeError that names the wrong entry. */
export const parseNetworks = (entries: readonly string[]): Networks =>
  entries.map((entry) => {
    const [, text = '', bits] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(entry) ?? []
    const address = addressOf(text)
    const all = address?.kind() === 'ipv4' ? 32 : 128
    if (address === null || Number(bits ?? 0) > all)
      throw new RangeError(`${JSON.stringify(entry)} is no network; write it like 10.0.0.0/8`)
    return [address, bits === undefined ? all : Number(bits)]
  })

/** A network as {@link parseNetworks} reads it. */
export const textOf = ([address, bits]: Networks[number]): string => `${address}/${bits}`

/** An address in its usual form; what others read for one as well (`010.0.0.1`, `167772161`) is none. */
const addressOf = (text: string): Address | null =>
  ipaddr.IPv4.isValidFourPartDecimal(text) || (text.includes(':') && ipaddr.IPv6.isValid(text))
    ? ipaddr.parse(text)
    : null

/**
 * Public addresses behind which clouds keep what is for the machine alone (168.63.129.16 is Azure's); those of others
 * are link-local, unique local or shared (169.254.169.254, fd00:ec2::254, 100.100.100.200) and out of bounds anyway.
 */
const metadata: ReadonlySet<string> = new Set(['168.63.129.16'])

/** Where all public IPv6 addresses are, so far. */
const globalUnicast: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3]
/** IPv4 in IPv6, for networks that have only the latter (RFC 6052). */
const translated: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('64:ff9b::'), 96]

/** The address that a packet to this one comes to: that of IPv4 where one is written as IPv6. */
const meant = (address: Address): Address => {
  if (!(address instanceof ipaddr.IPv6)) return address
  if (address.isIPv4MappedAddress()) return address.toIPv4Address()
  if (address.match(...translated)) return new ipaddr.IPv4(address.toByteArray().slice(12))
  return address
}

const isPublic = (address: Address): boolean =>
  address.range() === 'unicast' &&
  !metadata.has(address.toString()) &&
  (!(address instanceof ipaddr.IPv6) || address.match(...globalUnicast))

/**
 * Why an address may not be asked, in few words; null where it may. What is public may, and what is in a network that
 * the operator allows. Everything else may not, whatever it is: loopback, private, link-local, shared, reserved.
 */
export const refusalOf = (text: string, allowed: Networks): string | null => {
  const parsed = addressOf(text.split('%', 1)[0] ?? '')
  if (parsed === null) return 'is no address'
  const address = meant(parsed)
  return isAmong(address, allowed) || isPublic(address) ? null : `is ${kinds[address.range()] ?? 'no public address'}`
}

/** True when one of the networks has the address. */
export const isWithin = (text: string, networks: Networks): boolean => {
  const address = addressOf(text)
  return address !== null && isAmong(meant(address), networks)
}

const isAmong = (address: Address, networks: Networks): boolean =>
  networks.some(([network, bits]) => address.kind() === network.kind() && address.match(network, bits))

/** What people call it. */
const kinds: Readonly<Record<string, string>> = {
  loopback: 'this machine (loopback)',
  private: 'a private address',
  uniqueLocal: 'a private address',
  linkLocal: 'a link-local address',
  carrierGradeNat: 'a shared address',
  unspecified: 'this machine (unspecified)',
}
