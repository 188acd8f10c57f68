/**
 * The network that one client is likely to have to itself, for counting by address: an IPv4 address, or the first 64 bits
 * of an IPv6 address, within which a client may take as many as it likes.
 */
export const networkOf = (address: string): string => {
  if (!address.includes(':')) return address
  const [head = '', tail] = (address.split('%', 1)[0] ?? '').split('::')
  const groupsOf = (text: string | undefined): string[] =>
    text === undefined || text === '' ? [] : text.toLowerCase().split(':')
  const [front, back] = [groupsOf(head), groupsOf(tail)]
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - front.length - back.length)
  const all = [...front, ...Array.from({ length: zeros }, () => '0'), ...back]
  const network = all.slice(0, 4).map((group) => group.replace(/^0+(?=.)/, ''))
  return `${network.join(':')}::/64`
}
