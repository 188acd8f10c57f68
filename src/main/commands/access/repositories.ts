import { listAllRepositories } from '../../../features/catalog/repositories/operations.ts'
import { unknown } from '../../client/names.ts'
import { everyPage } from '../../client/pages.ts'
import type { Service } from '../../client/service.ts'

/** Refuses the name of a repository that does not exist, with those that are called nearly so. */
export const requireRepository = async (service: Service, id: string): Promise<void> => {
  const all = await everyPage((after) =>
    service.call(listAllRepositories, { query: after === null ? { limit: 100 } : { limit: 100, after } }),
  )
  const ids = all.map((repository) => repository.id)
  if (!ids.includes(id)) throw unknown('repository', id, ids)
}
