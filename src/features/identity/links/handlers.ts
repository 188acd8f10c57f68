import { type BoundOperation, handle } from '../../../contract/handler.ts'
import { shareOf } from '../../../kernel/download-class.ts'
import { linkTtlSecondsDefault } from '../../../kernel/limits/identity.ts'
import { publishedArtifact } from '../../catalog/artifacts/artifacts.ts'
import { type LinkDeps, signLink } from './links.ts'
import * as operations from './operations.ts'

export const linkHandlers = ({ database, signer }: LinkDeps): BoundOperation[] => [
  handle(operations.createLink, async ({ path, body, caller, request }) => {
    const { repository, id } = path
    await publishedArtifact(database.reader, repository, id)
    const ttlSeconds = body.ttlSeconds ?? linkTtlSecondsDefault
    const token = await signLink(signer, { repository, artifactId: id }, ttlSeconds, shareOf(caller))
    // Whoever lost access while it was signed does not get it.
    await request.admitAgain()
    const url = `${request.baseUrl}/api/v1/repositories/${repository}/artifacts/${id}/content?token=${token}`
    return { status: 201, json: { token, url } }
  }),
]
