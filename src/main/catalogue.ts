import type { BoundOperation } from '../contract/handler.ts'
import type { Operation } from '../contract/operation.ts'
import * as annotations from '../features/catalog/annotations/operations.ts'
import * as artifacts from '../features/catalog/artifacts/operations.ts'
import * as assets from '../features/catalog/assets/operations.ts'
import * as attachments from '../features/catalog/attachments/operations.ts'
import * as audit from '../features/catalog/audit/operations.ts'
import * as changes from '../features/catalog/changes/operations.ts'
import * as packages from '../features/catalog/packages/operations.ts'
import * as references from '../features/catalog/references/operations.ts'
import * as repositories from '../features/catalog/repositories/operations.ts'
import * as search from '../features/catalog/search/operations.ts'
import * as stages from '../features/catalog/stages/operations.ts'
import * as access from '../features/identity/access/operations.ts'
import * as accounts from '../features/identity/accounts/operations.ts'
import * as groups from '../features/identity/groups/operations.ts'
import * as links from '../features/identity/links/operations.ts'
import * as securityAudit from '../features/identity/security-audit/operations.ts'
import * as serviceAccounts from '../features/identity/service-accounts/operations.ts'
import * as tokens from '../features/identity/tokens/operations.ts'
import * as deletion from '../features/lifecycle/deletion/operations.ts'
import * as retention from '../features/lifecycle/policies/operations.ts'
import * as promotion from '../features/lifecycle/promotion/operations.ts'
import * as storage from '../features/lifecycle/space/operations.ts'
import * as discovery from '../features/operating/discovery/operations.ts'
import * as health from '../features/operating/health/operations.ts'
import * as raw from '../features/transfers/raw/operations.ts'
import * as uploads from '../features/transfers/uploads/operations.ts'

const isOperation = (value: object): value is Operation => 'id' in value && 'method' in value && 'access' in value

/** In the order of their ids, of each module or of several that speak of one resource. */
const declared = (...modules: readonly Readonly<Record<string, object>>[]): Operation[] =>
  modules.flatMap((module) =>
    Object.values(module)
      .filter(isOperation)
      .sort((one, other) => (one.id < other.id ? -1 : 1)),
  )

/** Every declared operation of the service. */
export const catalogue = (): Operation[] =>
  declared(
    health,
    discovery,
    access,
    accounts,
    tokens,
    serviceAccounts,
    groups,
    securityAudit,
    repositories,
    uploads,
    { ...artifacts, ...deletion },
    references,
    attachments,
    stages,
    promotion,
    annotations,
    search,
    storage,
    retention,
    links,
    { ...assets, ...raw },
    packages,
    audit,
    changes,
  )

/** Throws unless every declared operation has exactly one handler: nothing is declared and not served, or the reverse. */
export const checkComplete = (operations: readonly Operation[], bound: readonly BoundOperation[]): void => {
  const served = bound.map(({ operation }) => operation.id).sort()
  const wanted = operations.map(({ id }) => id).sort()
  if (served.join() !== wanted.join())
    throw new Error(`the catalogue declares ${wanted.join(', ')} but handlers serve ${served.join(', ')}`)
}
