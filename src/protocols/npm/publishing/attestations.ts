import { objectOf } from '../fields.ts'
import { badPackage } from '../refusals.ts'
import { jsonObject } from './document.ts'

/** What an attestation must be about. */
interface Attested {
  readonly name: string
  readonly version: string
  /** SHA-512 of the tarball, hexadecimal digits. */
  readonly sha512: string
}

/**
 * The attestations of a version, as JSON, from the bundle that came with it: an envelope of Sigstore around a statement
 * of in-toto. 400 where that is about something else. Who signed it, clients verify.
 */
export const attestationsOf = (sent: Buffer, attested: Attested): string => {
  const bundle = jsonObject(sent, 'The attestation')
  const envelope = objectOf(bundle['dsseEnvelope'])
  const payload = envelope['payload']
  if (typeof payload !== 'string') throw badPackage('The attestation is no bundle of Sigstore with a DSSE envelope.')
  const statement = jsonObject(Buffer.from(payload, 'base64'), 'The statement in the attestation')
  const { subject, predicateType } = statement
  const purl = `pkg:npm/${attested.name.replace(/^@/, '%40')}@${attested.version}`
  const subjects = Array.isArray(subject) ? subject.map(objectOf) : []
  const isAbout = subjects.some(
    (each) => each['name'] === purl && objectOf(each['digest'])['sha512'] === attested.sha512,
  )
  if (!isAbout) throw badPackage(`The attestation is not about ${purl} with the tarball that was sent.`)
  if (typeof predicateType !== 'string') throw badPackage('The attestation does not say of which type it is.')
  return JSON.stringify([{ predicateType, bundle }])
}
