import { randomBytes } from 'node:crypto'
import type { Queries } from '../../../database/database.ts'
import type { LinkCaller } from '../../../kernel/caller.ts'
import { prefixes } from '../../../kernel/credentials.ts'
import { Failure } from '../../../kernel/failure.ts'
import { endOfSigned, readToken, type Signer, type SignerDeps, type TokenForm } from './signer.ts'

/** Download links: whoever has one may fetch one artifact until it ends. */
const form: TokenForm = { prefix: prefixes.link, version: 2, label: 'svc download link' }

/** What the link opens. It stands in the signature and not in the token: the path says it. */
export interface LinkTarget {
  readonly repository: string
  readonly artifactId: string
}

/** A token says what tells links apart, and whose share of the downloads it takes: nine bytes each. */
const nonceBytes = 9

const about = ({ repository, artifactId }: LinkTarget): Uint8Array => Buffer.from(`${repository}\0${artifactId}`)

export interface LinkDeps extends SignerDeps {
  readonly signer: Signer
}

/** A token for the target that ends after so many seconds, made by somebody whose share of the downloads it takes. */
export const signLink = (signer: Signer, target: LinkTarget, ttlSeconds: number, share: string): Promise<string> => {
  const says = Buffer.concat([randomBytes(nonceBytes), Buffer.from(share, 'base64url')])
  return signer.sign(form, ttlSeconds, says, about(target))
}

const noLink = (): Failure =>
  new Failure('credential_invalid', 'This is no download link of this service to this file. Ask for a new one.')

/**
 * The caller behind a link to this target. 401 `token_expired` to the holder of the exact token, otherwise
 * `credential_invalid`: also for a link to another artifact.
 */
export const callerOfLink = async (
  q: Queries,
  text: string,
  target: LinkTarget,
  nowMs: number,
): Promise<LinkCaller> => {
  const token = readToken(form, text)
  if (token === null) throw noLink()
  const endMs = await endOfSigned(q, token, about(target))
  if (endMs === null) throw noLink()
  if (endMs <= nowMs) throw new Failure('token_expired', 'The download link has expired. Ask for a new one.')
  return {
    kind: 'link',
    credential: 'download-link',
    id: token.says.toString('base64url', 0, nonceBytes),
    administrator: false,
    repository: target.repository,
    share: token.says.toString('base64url', nonceBytes),
  }
}
