import type { Migration } from '../migration.ts'
import { foundation } from './0001-foundation.ts'
import { personalTokens } from './0002-personal-tokens.ts'
import { serviceAccounts } from './0003-service-accounts.ts'
import { partsAndJobs } from './0004-parts-and-jobs.ts'
import { linkKeys } from './0005-link-keys.ts'
import { deletionAndSpace } from './0006-deletion-and-space.ts'
import { downloadQueue } from './0007-download-queue.ts'
import { referencesAttachmentsStages } from './0008-references-attachments-stages.ts'
import { packages } from './0009-packages.ts'
import { journalCursors } from './0010-journal-cursors.ts'
import { annotations } from './0011-annotations.ts'
import { search } from './0012-search.ts'
import { storagePolicies } from './0013-storage-policies.ts'
import { moving } from './0014-moving.ts'
import { searchIndexMerges } from './0015-search-index-merges.ts'
import { promotions } from './0016-promotions.ts'
import { openUploads } from './0017-open-uploads.ts'
import { repositoryIdentities } from './0018-repository-identities.ts'
import { removals } from './0019-removals.ts'
import { versionIdentity } from './0020-version-identity.ts'
import { upkeepRuns } from './0021-upkeep-runs.ts'
import { quarantine } from './0022-quarantine.ts'
import { verifiedAssemblies } from './0023-verified-assemblies.ts'
import { namesOfWhatIsGone } from './0024-names-of-what-is-gone.ts'
import { pathsThatEnd } from './0025-paths-that-end.ts'
import { whatLeadsToAFile } from './0026-what-leads-to-a-file.ts'
import { mediaTypes } from './0027-media-types.ts'
import { whatPeopleLookFor } from './0028-what-people-look-for.ts'
import { inlineBytes } from './0029-inline-bytes.ts'
import { images } from './0030-images.ts'
import { tagsBySha512 } from './0031-tags-by-sha512.ts'
import { listedImages } from './0032-listed-images.ts'
import { promotedImages } from './0033-promoted-images.ts'
import { immutableTags } from './0034-immutable-tags.ts'
import { imagesByAge } from './0035-images-by-age.ts'
import { signInsOfClients } from './0036-sign-ins-of-clients.ts'
import { backups } from './0037-backups.ts'
import { layersThatComeLater } from './0038-layers-that-come-later.ts'
import { whoCountsOnImages } from './0039-who-counts-on-images.ts'
import { lfsObjects } from './0040-lfs-objects.ts'
import { lfsLocks } from './0041-lfs-locks.ts'
import { webhooks } from './0042-webhooks.ts'
import { npm } from './0043-npm.ts'
import { provenBackups } from './0044-proven-backups.ts'
import { npmUpstreams } from './0045-npm-upstreams.ts'
import { promotedPackages } from './0046-promoted-packages.ts'
import { whoCountsOnBlobs } from './0047-who-counts-on-blobs.ts'
import { npmVersionsByAge } from './0048-npm-versions-by-age.ts'
import { journalGaps } from './0049-journal-gaps.ts'
import { annotationHistory } from './0050-annotation-history.ts'
import { samples } from './0051-samples.ts'
import { whatIsSaidCounts } from './0052-what-is-said-counts.ts'
import { foundPoints } from './0053-found-points.ts'

/** In order; `currentSchema` is the number of the last one. A released migration is never edited. */
export const migrations: readonly Migration[] = [
  foundation,
  personalTokens,
  serviceAccounts,
  partsAndJobs,
  linkKeys,
  deletionAndSpace,
  downloadQueue,
  referencesAttachmentsStages,
  packages,
  journalCursors,
  annotations,
  search,
  storagePolicies,
  moving,
  searchIndexMerges,
  promotions,
  openUploads,
  repositoryIdentities,
  removals,
  versionIdentity,
  upkeepRuns,
  quarantine,
  verifiedAssemblies,
  namesOfWhatIsGone,
  pathsThatEnd,
  whatLeadsToAFile,
  mediaTypes,
  whatPeopleLookFor,
  inlineBytes,
  images,
  tagsBySha512,
  listedImages,
  promotedImages,
  immutableTags,
  imagesByAge,
  signInsOfClients,
  backups,
  layersThatComeLater,
  whoCountsOnImages,
  lfsObjects,
  lfsLocks,
  webhooks,
  npm,
  provenBackups,
  npmUpstreams,
  promotedPackages,
  whoCountsOnBlobs,
  npmVersionsByAge,
  journalGaps,
  annotationHistory,
  samples,
  whatIsSaidCounts,
  foundPoints,
]
