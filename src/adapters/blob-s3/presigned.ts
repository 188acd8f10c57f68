import { GetObjectCommand } from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { create } from 'content-disposition'
import { fileNameOf } from '../../kernel/file-name.ts'
import type { AddressedAs } from '../../ports/blob-store.ts'
import type { Bucket } from './bucket.ts'

/**
 * An address of the store's own, signed by our key. The name and the type travel in the signature: nobody can change
 * them.
 */
export const presigned = (bucket: Bucket, key: string, { name, mediaType, seconds }: AddressedAs): Promise<string> =>
  getSignedUrl(
    bucket.client,
    new GetObjectCommand({
      Bucket: bucket.name,
      Key: key,
      ResponseContentType: mediaType,
      ResponseContentDisposition: create(fileNameOf(name), { type: 'attachment' }),
    }),
    { expiresIn: seconds },
  )
