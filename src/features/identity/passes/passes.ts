import type { Queries } from '../../../database/database.ts'
import { byPass, type CredentialCaller } from '../../../kernel/caller.ts'
import { type Clock, timestamp } from '../../../kernel/clock.ts'
import { prefixes } from '../../../kernel/credentials.ts'
import { Failure } from '../../../kernel/failure.ts'
import { passSeconds } from '../../../kernel/limits/identity.ts'
import { endOfSigned, readToken, type Signer, type TokenForm } from '../links/signer.ts'
import { type CredentialName, credentialNamed, type FindNamedFileKey, namedBy, nameOf, toBytes } from './names.ts'

/**
 * Passes: what a client of another protocol gets for its credential and shows for a few minutes instead of it. A pass
 * says whose stand-in it is and nothing of what it opens: who has the credential and what it may is read anew on each
 * request, so that whatever ends the credential ends its passes with it.
 */
export const passPrefix = prefixes.pass

const form: TokenForm = { prefix: passPrefix, version: 1, label: 'svc pass' }

/**
 * What is signed and does not stand in a pass: at which wire it is good and what for, and the digest of the
 * credential's secret, so that another credential of the same name is another one.
 */
const about = (wire: string, passFor: string | null, sha256: string): Uint8Array =>
  Buffer.from([wire, ...(passFor === null ? [] : [passFor]), sha256].join('\0'))

export interface PassDeps {
  readonly clock: Clock
  readonly signer: Signer
  readonly findNamedFileKey: FindNamedFileKey
}

export interface Pass {
  readonly token: string
  readonly seconds: number
  readonly issuedAt: string
}

/** A pass for whoever asks by a credential. Throws 401 where that has ended meanwhile. */
export const makePass = async (q: Queries, deps: PassDeps, caller: CredentialCaller, wire: string): Promise<Pass> => {
  const issuedAt = timestamp(deps.clock.now())
  const sign = await passMaker(q, deps, caller, wire)
  return { token: await sign(null, passSeconds), seconds: passSeconds, issuedAt }
}

/** Makes passes for one thing each (`Operation.passFor`), or for the whole wire (null). */
export type PassMaker = (passFor: string | null, seconds: number) => Promise<string>

/** The same for whoever needs many at once. Throws 401 where the credential has ended meanwhile. */
export const passMaker = async (
  q: Queries,
  { clock, signer, findNamedFileKey }: PassDeps,
  caller: CredentialCaller,
  wire: string,
): Promise<PassMaker> => {
  const name = nameOf(caller)
  const found = await credentialNamed(q, findNamedFileKey, name, clock.now())
  if (found === null) throw new Failure('credential_invalid', 'This credential has ended meanwhile.')
  return (passFor, seconds) => signer.sign(form, seconds, toBytes(name), about(wire, passFor, found.sha256))
}

/** Where a credential is shown. */
export interface Shown {
  /** The name of the wire. */
  readonly wire: string
  /** What a pass has to be for there; null for those of the whole wire. */
  readonly passFor: string | null
  /** By a request that was let in before with the same: that its pass ended since does not matter. */
  readonly again: boolean
}

/**
 * The caller behind a pass. To the holder of the exact pass 401 `token_expired` when it has ended, 403
 * `address_expired` where it was for one thing, and otherwise what the credential that it stands for would be told;
 * `credential_invalid` for anything else, also for a pass of another wire or another thing.
 */
export const callerOfPass = async (
  q: Queries,
  { clock, findNamedFileKey }: Pick<PassDeps, 'clock' | 'findNamedFileKey'>,
  text: string,
  { wire, passFor, again }: Shown,
): Promise<CredentialCaller> => {
  const token = readToken(form, text)
  const name: CredentialName | null = token === null ? null : namedBy(token.says)
  if (token === null || name === null) throw noPass('no pass by its form')
  const nowMs = clock.now()
  const found = await credentialNamed(q, findNamedFileKey, name, nowMs)
  if (found === null) throw noPass(`the ${name.kind} that it stood for is gone`)
  const endMs = await endOfSigned(q, token, about(wire, passFor, found.sha256))
  if (endMs === null) throw noPass(`not signed here, for this wire and this ${name.kind}`)
  const caller = found.caller()
  if (endMs <= nowMs && !again && passFor !== null)
    throw new Failure('address_expired', 'The address has ended, as each does after its time. Ask for a new one.')
  if (endMs <= nowMs && !again)
    throw new Failure('token_expired', `The token has ended, as each does after ${passSeconds} s. Ask for a new one.`)
  return byPass(caller)
}

const noPass = (why: string): Failure =>
  new Failure('credential_invalid', 'This is no token of this service, or what it stood for has ended.', {
    forOperator: { why },
  })
