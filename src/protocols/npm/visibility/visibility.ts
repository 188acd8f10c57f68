import type { Queries } from '../../../database/database.ts'
import { Failure } from '../../../kernel/failure.ts'
import type { Sent } from '../accounts/sent.ts'
import { packageState } from '../packages.queries.ts'
import { packageUnknown } from '../refusals.ts'
import { isPackageName } from '../vocabulary.ts'

/** 404 for a package that has no version here. */
export const requirePackage = async (q: Queries, repository: string, name: string): Promise<void> => {
  const known = isPackageName(name) && (await packageState(q, { repository, name })) !== undefined
  if (!known) throw packageUnknown(name)
}

/** 403 for any wish but that a package be private, which all are. */
export const refuseOtherAccess = ({ access, ...others }: Sent): void => {
  if ((access === 'restricted' || access === 'private') && Object.keys(others).length === 0) return
  throw new Failure(
    'permission_missing',
    'All packages of a repository are read by whoever may read the repository, and by nobody else. An administrator grants that.',
  )
}
