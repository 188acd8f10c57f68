const thisMachine: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

/**
 * Why a text is no address that the service may be told to ask; null for one that is. Where it leads is looked at when
 * it is asked: names change.
 */
export const outwardAddressFault = (text: string, maxCharacters: number): string | null => {
  if (!/^https?:\/\//i.test(text)) return 'it is no address that begins with https://'
  const url = URL.parse(text)
  // What would be read past (line breaks, spaces at an end) or for something else (a backslash) is a mistake.
  if (url === null || /[\s\\\p{Cc}]|^\w+:\/\/\//u.test(text)) return 'it is no address'
  if (text.length > maxCharacters) return `it is longer than ${maxCharacters} characters`
  if (/^\w+:\/\/[^/]*@/.test(text)) return 'it has a user name'
  if (text.includes('?') || text.includes('#')) return 'it has a query or a fragment'
  if (url.protocol === 'http:' && !thisMachine.has(url.hostname))
    return 'plain HTTP is for localhost, 127.0.0.1 and [::1] alone'
  return null
}
