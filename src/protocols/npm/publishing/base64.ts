import { badPackage } from '../refusals.ts'

/** Decodes Base64 that comes in pieces, as it stands in a JSON string. */
export interface Base64 {
  /** The bytes of a piece. 400 where it is none. */
  push(text: Buffer): Buffer
  /** Those of what is left at the end. 400 as above. */
  end(): Buffer
}

const wrong = 'The data of the attachment is not Base64.'

export const createBase64 = (): Base64 => {
  let left = ''
  const decode = (text: string): Buffer => {
    const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
    const bytes = Buffer.from(text, 'base64')
    // Whatever is no letter of the alphabet is passed over, and missing then.
    if (bytes.byteLength !== Math.floor(((text.length - padding) * 3) / 4)) throw badPackage(wrong)
    return bytes
  }
  return {
    push(piece) {
      const text = left + piece.toString('latin1')
      const padded = text.indexOf('=')
      const end = (padded === -1 ? text.length : padded) & ~3
      left = text.slice(end)
      if (left.length > 4) throw badPackage(wrong)
      return decode(text.slice(0, end))
    },
    end() {
      if (left.length % 4 === 1) throw badPackage(wrong)
      const bytes = decode(left)
      left = ''
      return bytes
    },
  }
}
