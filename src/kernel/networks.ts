/**
 * The network that one client is likely to have to itself, for counting by address: an IPv4 address, or the first 64
 * bits of an IPv6 address, within which a client may take as many as it likes.
 */
export const networkOf = (address: string): string =>
  address.includes(':') ? `${groupsOf(address).slice(0, 4).join(':')}::/64` : address

/**
 * The network that one customer of a provider may have at most: the first 24 bits of an IPv4 address, the first 48 of
 * an IPv6 address, which has 65,536 networks of the kind above. What is no address is one by itself.
 */
export const wideNetworkOf = (address: string): string =>
  address.includes(':')
    ? `${groupsOf(address).slice(0, 3).join(':')}::/48`
    : address.replace(/^(\d+\.\d+\.\d+)\.\d+$/, '$1.0/24')

/** The eight groups of an IPv6 address, without zeros before them. */
const groupsOf = (address: string): string[] => {
  const [head = '', tail] = (address.split('%', 1)[0] ?? '').split('::')
  const listed = (text: string | undefined): string[] =>
    text === undefined || text === '' ? [] : text.toLowerCase().split(':')
  const [front, back] = [listed(head), listed(tail)]
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - front.length - back.length)
  const all = [...front, ...Array.from({ length: zeros }, () => '0'), ...back]
  return all.map((group) => group.replace(/^0+(?=.)/, ''))
}
