import { type Sha256, toSha256 } from '../kernel/digest.ts'
import { freshBytes } from '../kernel/random.ts'

declare const blobNameBrand: unique symbol

/**
 * What the bytes of a blob are called in a store: their digest and a generation, `<sha256>-<generation>`. A generation
 * is made with the blob's row and goes with it, so that no name is ever given twice: whatever arrives late (a removal
 * that hung, a rename or a PUT of somebody who had given up) meets no bytes but those that it was meant for. Blobs from
 * before there were generations have the empty one, and their digest alone as a name.
 */
export type BlobName = string & { readonly [blobNameBrand]: true }

const form = /^[0-9a-f]{64}(?:-[0-9a-f]{32})?$/

export const isBlobName = (text: string): text is BlobName => form.test(text)

/** Throws a RangeError for what is no name. */
export const toBlobName = (text: string): BlobName => {
  if (!isBlobName(text)) throw new RangeError(`not the name of a blob: ${JSON.stringify(text.slice(0, 120))}`)
  return text
}

/** One that was never used, and that nobody will make again: 128 random bits. No clock is asked. */
export const newGeneration = (): string => freshBytes(16).toString('hex')

export const blobName = (digest: Sha256, generation: string): BlobName =>
  toBlobName(generation === '' ? digest : `${digest}-${generation}`)

/** What the bytes are said to be. */
export const digestOfName = (name: BlobName): Sha256 => toSha256(name.slice(0, 64))

export const generationOf = (name: BlobName): string => name.slice(65)
