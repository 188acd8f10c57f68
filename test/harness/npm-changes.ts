import type { Ask } from './client.ts'
import { expectAnswer } from './expect.ts'
import { publishDocument } from './npm-documents.ts'
import { npmPublisher } from './npm-packages.ts'
import { lookThrough } from './npm-upstreams.ts'
import { createRepository } from './people.ts'
import type { Answering } from './service.ts'

interface Place {
  readonly service: Answering
  readonly credential: string
  /** Deletes. */
  readonly keeper: string
  readonly repository: string
}

/** A request for each operation that changes npm packages, by its id: each succeeds, whatever the others did before. */
export const changesOfNpmPackages = async ({
  service,
  credential,
  keeper,
  repository,
}: Place): Promise<Record<string, Ask>> => {
  const npm = npmPublisher(service, credential, repository)
  for (const name of ['changed', 'owned', 'doomed', 'shortened', 'restored', 'promoted', 'deleted'])
    await npm.publish({ name, version: '1.0.0' })
  await npm.publish({ name: 'changed', version: '1.1.0' }, { tag: 'unneeded' })
  const revision = async (name: string): Promise<string> => (await npm.document(name)).json._rev
  const { document } = await publishDocument({ name: 'put', version: '1.0.0' })
  const restored = npm.at('/restored/-/restored-1.0.0.tgz/-rev/0')
  await expectAnswer(service, { method: 'DELETE', path: restored, credential: keeper }, 200)
  const tags = npm.at('/-/package/changed/dist-tags')
  const interfaced = `/api/v1/repositories/${repository}/npm`
  const promoted = { package: 'promoted', version: '1.0.0' }
  await npm.expect({ method: 'PUT', path: `${interfaced}/stages/tested`, json: promoted }, 200)
  return {
    restoreNpmVersion: {
      path: `${interfaced}/versions/restore`,
      credential,
      json: { package: 'restored', version: '1.0.0' },
    },
    deleteNpmVersion: {
      method: 'DELETE',
      path: `${interfaced}/versions?package=deleted&version=1.0.0`,
      credential: keeper,
    },
    addNpmStage: { method: 'PUT', path: `${interfaced}/stages/approved`, credential, json: promoted },
    removeNpmStage: {
      method: 'DELETE',
      path: `${interfaced}/stages/tested?package=promoted&version=1.0.0`,
      credential,
    },
    promoteNpmVersion: { path: `${interfaced}/promote`, credential, json: { ...promoted, target: 'target' } },
    putPackage: { method: 'PUT', path: npm.at('/put'), credential, json: document },
    putPackageAt: {
      method: 'PUT',
      path: npm.at(`/owned/-rev/${await revision('owned')}`),
      credential,
      json: { _id: 'owned', maintainers: [{ name: 'somebody', email: '' }] },
    },
    deletePackage: {
      method: 'DELETE',
      path: npm.at(`/doomed/-rev/${await revision('doomed')}`),
      credential: keeper,
    },
    deleteTarball: {
      method: 'DELETE',
      path: npm.at('/shortened/-/shortened-1.0.0.tgz/-rev/0'),
      credential: keeper,
    },
    setDistTag: { method: 'PUT', path: `${tags}/beta`, credential, json: '1.0.0' },
    deleteDistTag: { method: 'DELETE', path: `${tags}/unneeded`, credential },
    ...(await changesOfNpmUpstreams(service, repository)),
    setNpmAccess: { path: npm.at('/-/package/changed/access'), credential, json: { access: 'restricted' } },
  }
}

const changesOfNpmUpstreams = async (service: Answering, repository: string): Promise<Record<string, Ask>> => {
  const at = (place: string): string => `/api/v1/repositories/${place}/npm-upstream`
  const credential = service.recoveryKey
  await createRepository(service, 'looks-no-more')
  await lookThrough(service, 'looks-no-more', { url: 'https://registry.example.org' })
  return {
    putNpmUpstream: {
      method: 'PUT',
      path: at(repository),
      credential,
      json: { url: 'https://registry.example.org', reserved: ['*'] },
    },
    deleteNpmUpstream: { method: 'DELETE', path: at('looks-no-more'), credential },
    dropCachedNpmPackages: { method: 'DELETE', path: `${at(repository)}/packages`, credential },
  }
}
