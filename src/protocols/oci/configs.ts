import type { OpeningDeps } from '../../content/claims/stored-names.ts'
import type { Database } from '../../database/database.ts'
import { findBlob } from './blobs.queries.ts'
import type { Config, Manifest } from './manifest.ts'
import { platformOf, platformsAmong } from './platforms.ts'
import { type Fields, storedFields } from './stored-json.ts'

export interface ConfigDeps extends OpeningDeps {
  readonly database: Pick<Database, 'reader'>
}

/** Configs of images, whatever else artifacts put in their place. */
const types: readonly string[] = [
  'application/vnd.oci.image.config.v1+json',
  'application/vnd.docker.container.image.v1+json',
]

/**
 * What stands in the config of an image; null where it is none, is not here, or cannot be looked into. Throws as
 * `openStored` does.
 */
export const configFields = async (
  deps: ConfigDeps,
  repository: string,
  { mediaType, digest }: Pick<Config, 'mediaType' | 'digest'>,
): Promise<Fields | null> => {
  if (!types.includes(mediaType)) return null
  const blob = await findBlob(deps.database.reader, repository, digest)
  return blob === undefined ? null : await storedFields(deps, blob)
}

/**
 * What an image or an index is for. What cannot be read now is not known: a push fails for what it sends, not for that.
 */
export const platformsOf = async (
  deps: ConfigDeps,
  repository: string,
  { config, platforms }: Pick<Manifest, 'config' | 'platforms'>,
): Promise<readonly string[]> => {
  if (config === null) return platforms
  try {
    return platformsAmong([platformOf(await configFields(deps, repository, config))])
  } catch {
    return []
  }
}
