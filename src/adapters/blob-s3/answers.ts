import { Readable } from 'node:stream'
import type { S3Client } from '@aws-sdk/client-s3'
import { objectAnswerBytesMax } from '../../kernel/limits/engines.ts'
import { UnfitAnswer } from './failures.ts'

/** Answers that are the bytes of an object, which are handed on as they come. */
const streamed = 'GetObjectCommand'

/** Has a client take no more of an answer into memory than an honest one has. */
export const boundAnswers = ({ middlewareStack }: S3Client): void =>
  middlewareStack.add(
    (next, { commandName }) =>
      async (asked) => {
        const answered = await next(asked)
        const { response } = answered
        if (hasBody(response) && (commandName !== streamed || (response.statusCode ?? 0) >= 300))
          response.body = Readable.from(bounded(response.body))
        return answered
      },
    // The last one before the answer is read.
    { step: 'deserialize', priority: 'low', name: 'boundAnswers' },
  )

const hasBody = (response: unknown): response is { statusCode?: number; body: Readable } =>
  typeof response === 'object' && response !== null && 'body' in response && response.body instanceof Readable

async function* bounded(body: Readable): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for await (const piece of body as AsyncIterable<Uint8Array>) {
    bytes += piece.byteLength
    if (bytes > objectAnswerBytesMax) throw new UnfitAnswer('an answer of it is too long')
    yield piece
  }
}
