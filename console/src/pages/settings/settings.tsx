import { useParams } from '@tanstack/react-router'
import { Page } from '../../parts/page.tsx'
import { useMay } from '../../session/holders.ts'
import { t } from '../../words/words.ts'
import { DeleteRepository } from './delete-repository.tsx'
import { ImmutableTags } from './immutable-tags.tsx'
import { Locking } from './locking.tsx'
import { Upstream } from './upstream.tsx'

/** What a repository does differently from others, and its end. */
export const Settings = () => {
  const { repository } = useParams({ from: '/r/$repository/settings' })
  const may = useMay()
  return (
    <Page title={t('tab.settings')} lead={t('settings.lead')}>
      <ImmutableTags repository={repository} />
      <Locking repository={repository} />
      {may('getNpmUpstream').may ? <Upstream repository={repository} /> : null}
      {may('deleteRepository').may ? <DeleteRepository repository={repository} /> : null}
    </Page>
  )
}
