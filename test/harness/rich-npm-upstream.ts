import type { Catalog } from './catalog.ts'
import type { Ask } from './client.ts'
import { expectAnswer } from './expect.ts'
import { startHostileRegistry } from './hostile-registry.ts'
import { lookThrough } from './npm-upstreams.ts'

/**
 * What a repository has of another registry, which is away by then: a package with a tarball that is kept, and one of
 * which only the document is. Answers questions about it, by the ids of operations.
 */
export const cacheRichNpmPackages = async ({
  service,
  writer,
  repository,
}: Pick<Catalog, 'service' | 'writer'> & { readonly repository: string }): Promise<Record<string, Ask[]>> => {
  const registry = await startHostileRegistry()
  const asked = (given: string): Ask => ({ path: `/npm/${repository}${given}`, credential: writer.token })
  try {
    await lookThrough(service, repository, { url: registry.url, reserved: ['@acme/*'], freshSeconds: 86_400 })
    await registry.publish({ name: '@outside/kept', version: '1.0.0', description: 'ü' })
    await registry.publish({ name: 'Outside', version: '2.0.0' })
    await expectAnswer(service, asked('/@outside/kept/-/kept-1.0.0.tgz'), 200)
    await expectAnswer(service, asked('/Outside'), 200)
  } finally {
    await registry.leave()
  }
  const base = `/api/v1/repositories/${repository}/npm-upstream`
  const listed = (given: string): Ask => ({ path: `${base}/${given}`, credential: writer.token })
  return {
    getNpmUpstream: [{ path: base, credential: service.recoveryKey }],
    listCachedNpmPackages: [listed('packages'), listed('packages?contains=out&limit=1')],
    listCachedNpmVersions: [listed('versions?package=@outside/kept')],
    getPackument: [asked('/@outside%2fkept'), asked('/Outside')],
    getNpmManifest: [asked('/@outside%2fkept/latest')],
    getNpmTarball: [asked('/@outside/kept/-/kept-1.0.0.tgz')],
    listDistTags: [asked('/-/package/@outside%2fkept/dist-tags')],
  }
}
