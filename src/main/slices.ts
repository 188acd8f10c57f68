import type { CheckedDeps } from '../content/checks/checks.ts'
import type { Check, Format, Slice, Upkeep } from '../contract/slice.ts'
import { annotations } from '../features/catalog/annotations/slice.ts'
import { artifacts } from '../features/catalog/artifacts/slice.ts'
import { assets } from '../features/catalog/assets/slice.ts'
import { attachments } from '../features/catalog/attachments/slice.ts'
import { feeds } from '../features/catalog/feeds/slice.ts'
import { packages } from '../features/catalog/packages/slice.ts'
import { references } from '../features/catalog/references/slice.ts'
import { repositories } from '../features/catalog/repositories/slice.ts'
import { search } from '../features/catalog/search/slice.ts'
import { stages } from '../features/catalog/stages/slice.ts'
import { whereabouts } from '../features/catalog/whereabouts/slice.ts'
import { access } from '../features/identity/access/slice.ts'
import { accounts } from '../features/identity/accounts/slice.ts'
import { groups } from '../features/identity/groups/slice.ts'
import { links } from '../features/identity/links/slice.ts'
import { securityAudit } from '../features/identity/security-audit/slice.ts'
import { serviceAccounts } from '../features/identity/service-accounts/slice.ts'
import { tokens } from '../features/identity/tokens/slice.ts'
import { deletion } from '../features/lifecycle/deletion/slice.ts'
import type { KeptKind } from '../features/lifecycle/policies/kept-kinds.ts'
import { policies } from '../features/lifecycle/policies/slice.ts'
import { promotion } from '../features/lifecycle/promotion/slice.ts'
import { space } from '../features/lifecycle/space/slice.ts'
import { attention } from '../features/operating/attention/slice.ts'
import { backups } from '../features/operating/backups/slice.ts'
import { consolePages } from '../features/operating/console/slice.ts'
import { discovery } from '../features/operating/discovery/slice.ts'
import { frontPage } from '../features/operating/front-page/slice.ts'
import { health } from '../features/operating/health/slice.ts'
import { webhooks } from '../features/operating/webhooks/slice.ts'
import { raw } from '../features/transfers/raw/slice.ts'
import { uploads } from '../features/transfers/uploads/slice.ts'
import type { JobKind } from '../jobs/enqueue.ts'
import { lfsCatalog } from '../protocols/lfs/catalog/slice.ts'
import { lfsLocks } from '../protocols/lfs/locks/slice.ts'
import { lfs } from '../protocols/lfs/slice.ts'
import { npmAccounts } from '../protocols/npm/accounts/slice.ts'
import { npmAdvisories } from '../protocols/npm/advisories/slice.ts'
import { npmPackages } from '../protocols/npm/packages/slice.ts'
import { npmPromotion } from '../protocols/npm/promotion/slice.ts'
import { npmRetention } from '../protocols/npm/retention/slice.ts'
import { npm } from '../protocols/npm/slice.ts'
import { npmStages } from '../protocols/npm/stages/slice.ts'
import { npmUpstreams } from '../protocols/npm/upstream/slice.ts'
import { npmVisibility } from '../protocols/npm/visibility/slice.ts'
import { images } from '../protocols/oci/images/slice.ts'
import { imagePromotion } from '../protocols/oci/promotion/slice.ts'
import { imageRetention } from '../protocols/oci/retention/slice.ts'
import { oci } from '../protocols/oci/slice.ts'
import { imageStages } from '../protocols/oci/stages/slice.ts'

/** Every slice of the product. Those that speak of one resource of the interface stand together. */
export const resources = [
  [health],
  [discovery],
  [frontPage],
  [consolePages],
  [access],
  [accounts],
  [tokens],
  [serviceAccounts],
  [groups],
  [securityAudit],
  [repositories],
  [uploads],
  [artifacts, deletion],
  [references],
  [attachments],
  [stages],
  [promotion],
  [annotations],
  [search],
  [space],
  [policies],
  [links],
  [assets, raw],
  [packages],
  [whereabouts],
  [feeds],
  [backups],
  [webhooks],
  [attention],
  [images, imageStages, imagePromotion, imageRetention],
  [npmPackages, npmStages, npmPromotion, npmRetention, npmUpstreams],
  [oci],
  [npm, npmAccounts, npmAdvisories, npmVisibility],
  [lfsCatalog],
  [lfs, lfsLocks],
] as const

type Listed = (typeof resources)[number][number]

/** One thing that is all that each of some functions takes. */
type Together<Takers> = [Takers] extends [(needs: infer All) => unknown] ? All : never
type Api<Each> =
  Each extends Slice<infer Needs, infer _D, infer _W, infer _J, infer _K> ? (needs: Needs) => void : never
type Work<Each> =
  Each extends Slice<infer _A, infer _D, infer Needs, infer _J, infer _K> ? (needs: Needs) => void : never
type Jobs<Each> =
  Each extends Slice<infer _A, infer _D, infer _W, JobKind<infer Needs>, infer _K> ? (needs: Needs) => void : never

/** What the handlers of all slices need, each some of it. */
export type ApiNeeds = Together<Api<Listed>>
/** What the upkeep of all slices needs, and their jobs. */
export type WorkerNeeds = Together<Work<Listed>> & Together<Jobs<Listed>>

/** A slice that the parts of the service suffice for. */
export type ProductSlice = Slice<ApiNeeds, CheckedDeps, WorkerNeeds, JobKind<WorkerNeeds>, KeptKind>

export const slices: readonly ProductSlice[] = resources.flat()

export const checksOfSlices: readonly Check<CheckedDeps>[] = slices.flatMap(({ checks }) => checks)
export const formatsOfSlices: readonly Format<CheckedDeps>[] = slices.flatMap(({ formats }) => formats)
export const upkeepOfSlices: readonly Upkeep<WorkerNeeds>[] = slices.flatMap(({ upkeep }) => upkeep)
export const jobsOfSlices: readonly JobKind<WorkerNeeds>[] = slices.flatMap(({ jobs }) => jobs)
export const keptOfSlices: readonly KeptKind[] = slices.flatMap(({ kept }) => kept)
