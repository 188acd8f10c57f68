import { Decrypter, Encrypter, generateIdentity, identityToRecipient } from 'age-encryption'

/** None of the keys that were given opens what is to be read. */
export class NoKeyFits extends Error {
  override readonly name = 'NoKeyFits'
}

/** A new secret key, and who has it, as others name them. */
export const newIdentity = (): Promise<string> => generateIdentity()
export const recipientOf = (identity: string): Promise<string> => identityToRecipient(identity)

/** Pieces as a file of age that each of these recipients can open. It takes nobody's secret. */
export async function* encrypted(
  pieces: AsyncIterable<Uint8Array>,
  recipients: readonly string[],
): AsyncGenerator<Uint8Array> {
  const encrypter = new Encrypter()
  for (const recipient of recipients) encrypter.addRecipient(recipient)
  yield* await encrypter.encrypt(ReadableStream.from(copied(pieces)))
}

/** What is in a file of age. Throws {@link NoKeyFits}, and whatever is wrong with it. */
export async function* decrypted(
  pieces: AsyncIterable<Uint8Array>,
  identities: readonly string[],
): AsyncGenerator<Uint8Array> {
  const decrypter = new Decrypter()
  for (const identity of identities) decrypter.addIdentity(identity)
  let clear: ReadableStream<Uint8Array>
  try {
    clear = await decrypter.decrypt(ReadableStream.from(copied(pieces)))
  } catch (error) {
    if (error instanceof Error && /no identity matched/.test(error.message)) throw new NoKeyFits(error.message)
    throw error
  }
  yield* clear
}

/** What a stream holds back has memory of its own: a piece is valid until the next one. */
async function* copied(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for await (const piece of pieces) yield Uint8Array.from(piece)
}
