import { hash } from 'node:crypto'
import type { Queries } from '../../../database/database.ts'
import type { CredentialCaller } from '../../../kernel/caller.ts'
import { uuidIn } from '../../../kernel/ids.ts'
import { keyNamed } from '../service-accounts/calling-keys.ts'
import type { NamedCredential } from '../sessions/secrets.ts'
import { sessionNamed } from '../sessions/sessions.ts'
import { tokenNamed } from '../tokens/tokens.ts'

/** In the order of their numbers in a pass, for ever. */
const kinds = ['session', 'personal-token', 'service-key', 'file-key'] as const

/** What a credential is called: no secret. */
export interface CredentialName {
  readonly kind: (typeof kinds)[number]
  /** 32 hexadecimal digits: its id; of a key of the keys file, whose ids are of any length, a digest. */
  readonly name: string
}

/** What a pass calls a key of the keys file. */
export const nameOfFileKey = (id: string): string => hash('sha256', `file key ${id}`).slice(0, 32)

/** By that name; null for a key that the file does not hold (any more). */
export type FindNamedFileKey = (name: string) => NamedCredential | null

export const nameOf = (caller: CredentialCaller): CredentialName => {
  if (caller.kind === 'file-key') return { kind: caller.credential, name: nameOfFileKey(caller.id) }
  const id = caller.kind === 'account' ? caller.credentialId : caller.keyId
  return { kind: caller.credential, name: id.replaceAll('-', '') }
}

/** The credential of a name as it is now; null for one that is gone. */
export const credentialNamed = async (
  q: Queries,
  findNamedFileKey: FindNamedFileKey,
  { kind, name }: CredentialName,
  nowMs: number,
): Promise<NamedCredential | null> => {
  if (kind === 'file-key') return findNamedFileKey(name)
  return rows[kind](q, uuidIn(name), nowMs)
}

const rows = { session: sessionNamed, 'personal-token': tokenNamed, 'service-key': keyNamed }

const kindBytes = 2

/** The 18 bytes by which a pass names a credential. */
export const toBytes = ({ kind, name }: CredentialName): Uint8Array => {
  const bytes = Buffer.alloc(kindBytes)
  bytes.writeUInt16BE(kinds.indexOf(kind))
  return Buffer.concat([bytes, Buffer.from(name, 'hex')])
}

/** Null for a kind that there is not. */
export const namedBy = (bytes: Buffer): CredentialName | null => {
  const kind = kinds[bytes.readUInt16BE()]
  return kind === undefined ? null : { kind, name: bytes.toString('hex', kindBytes) }
}
