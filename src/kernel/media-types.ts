import { mediaTypeMaxCharacters } from './limits/catalog.ts'

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const quoted = String.raw`"(?:[\t !#-\[\]-~]|\\[\t -~])*"`

/** A type, a subtype and parameters in printable ASCII (RFC 9110, section 8.3.1). Takes time as long as the text is. */
const wellFormed = new RegExp(`^${token}/${token}(?:[ \\t]*;(?:[ \\t]*${token}=(?:${token}|${quoted}))?)*$`)

const essenceOf = (text: string): string => text.split(';', 1)[0]?.trim().toLowerCase() ?? ''

/** What to say of anything else. */
export const mediaTypeWanted = `a media type of up to ${mediaTypeMaxCharacters} characters, such as text/plain; charset=utf-8`

/**
 * What a client says that its bytes are. `unsaid` where it says nothing, and for forms: no stored file is one, and
 * clients such as curl call every body so unless they are told otherwise. `malformed` for what is no media type.
 */
export const saidMediaType = (header: string | undefined): { readonly kept: string | null } | 'malformed' => {
  const text = header?.trim() ?? ''
  if (text === '' || essenceOf(text) === 'application/x-www-form-urlencoded') return { kept: null }
  return text.length <= mediaTypeMaxCharacters && wellFormed.test(text) ? { kept: text } : 'malformed'
}

/** What no browser runs, and none takes for a page, a picture that bears scripts, or a part of one of its own. */
const harmless = [
  /^text\/(?:plain|csv|markdown|tab-separated-values)$/,
  /^(?:image|audio|video|font)\/(?!.*(?:xml|svg))/,
  /^application\/(?:octet-stream|json|yaml|x-yaml|toml|pdf|cbor|java-archive)$/,
  /^application\/(?:x-)?(?:zip|gzip|bzip2|xz|zstd|tar|rpm|7z-compressed|compressed-tar)$/,
  /^application\/(?:x-debian-package|vnd\.(?!.*(?:xml|html|script|wasm|flash)).+)$/,
  /^application\/(?:[^+]+\+)?(?:json|zip|gzip|zstd|cbor)$/,
]

/** Bytes, of which nobody makes anything but a file. */
export const anyBytes = 'application/octet-stream'

/** What a file goes out as: what it was said to be where that is harmless in a browser, otherwise bytes. */
export const servedMediaType = (kept: string | null): string =>
  kept !== null && wellFormed.test(kept) && harmless.some((form) => form.test(essenceOf(kept))) ? kept : anyBytes
