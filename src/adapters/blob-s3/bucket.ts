import { setTimeout as pause } from 'node:timers/promises'
import { ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3'
import {
  objectStoreAnswerMs,
  objectStoreConnectionsMax,
  objectStoreConnectMs,
  objectStoreIdleMs,
  objectStorePauseFirstMs,
  objectStorePauseLongestMs,
  objectStoreTriesMax,
  objectStoreWorkMs,
} from '../../kernel/limits/engines.ts'
import { boundAnswers } from './answers.ts'
import { isPassing, NoAnswer } from './failures.ts'
import { type Keys, keysUnder } from './keys.ts'
import { Likeness } from './likeness.ts'

/** Where the objects are. Credentials come from the usual AWS variables or files. */
export interface ObjectPlace {
  readonly bucket: string
  /** Before every key: empty, or ends with a slash. */
  readonly prefix: string
  /** Null for AWS itself. */
  readonly endpoint: string | null
  readonly region: string
  /** Whether the bucket stands in the path and not in the host name. */
  readonly pathStyle: boolean
}

/** How long the store may take; the defaults stand in `limits`. */
export interface Patience {
  readonly connectMs: number
  readonly answerMs: number
  readonly idleMs: number
  readonly workMs: number
  readonly pauseFirstMs: number
}

export const patience: Patience = {
  connectMs: objectStoreConnectMs,
  answerMs: objectStoreAnswerMs,
  idleMs: objectStoreIdleMs,
  workMs: objectStoreWorkMs,
  pauseFirstMs: objectStorePauseFirstMs,
}

/** What every call needs: the client, the bucket it names, and the keys in it. */
export interface Bucket {
  readonly client: S3Client
  readonly name: string
  readonly keys: Keys
  readonly patience: Patience
  /** Whether the ETags of copied parts, and of objects put together from parts, say what is in them. */
  readonly copies: Likeness
  readonly wholes: Likeness
}

export const bucketAt = (place: ObjectPlace, waits: Patience): Bucket => {
  const agent = { keepAlive: true, maxSockets: objectStoreConnectionsMax }
  const client = new S3Client({
    region: place.region,
    ...(place.endpoint === null ? {} : { endpoint: place.endpoint }),
    forcePathStyle: place.pathStyle,
    // Tries are counted here, where it is known which requests may be repeated.
    maxAttempts: 1,
    // Checksums in trailers are not understood by every store; what is sent from memory is signed with its digest.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: waits.connectMs, httpAgent: agent, httpsAgent: agent },
  })
  boundAnswers(client)
  const likenesses = { copies: new Likeness(), wholes: new Likeness() }
  return { client, name: place.bucket, keys: keysUnder(place.prefix), patience: waits, ...likenesses }
}

/** Runs one request, and cuts it when no answer has begun after so many milliseconds. */
const answered = async <T>(withinMs: number, send: (signal: AbortSignal) => Promise<T>): Promise<T> => {
  const cut = new AbortController()
  const timer = setTimeout(() => cut.abort(), withinMs)
  try {
    return await send(cut.signal)
  } catch (error) {
    throw cut.signal.aborted ? new NoAnswer(`no answer within ${withinMs} ms`, { cause: error }) : error
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Runs a request that does no harm when it is repeated, again while the failure may pass, with pauses that double and
 * are shortened by chance so that many that failed together do not come back together. Gives up after
 * `objectStoreTriesMax` tries or once `answerMs` are over.
 */
export const persistently = async <T>(
  { patience }: Pick<Bucket, 'patience'>,
  send: (signal: AbortSignal) => Promise<T>,
  withinMs: number = patience.answerMs,
): Promise<T> => {
  const begun = performance.now()
  for (let tries = 1; ; tries++) {
    try {
      return await answered(withinMs, send)
    } catch (error) {
      const spent = performance.now() - begun >= patience.answerMs
      if (tries === objectStoreTriesMax || spent || !isPassing(error)) throw error
      const longest = Math.min(patience.pauseFirstMs * 2 ** (tries - 1), objectStorePauseLongestMs)
      await pause(longest * (0.5 + Math.random() / 2))
    }
  }
}

/** Resolves when the bucket is there and answers: unlike HEAD, this says why when it is not. */
export const lookAt = async (bucket: Bucket): Promise<void> => {
  const { client, name, keys } = bucket
  const command = () => new ListObjectsV2Command({ Bucket: name, Prefix: keys.blobs, MaxKeys: 1 })
  await persistently(bucket, (abortSignal) => client.send(command(), { abortSignal }))
}
