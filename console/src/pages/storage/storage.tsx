import { Link, useParams, useSearch } from '@tanstack/react-router'
import { Page } from '../../parts/page.tsx'
import { Forbidden } from '../../parts/states.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { useMay } from '../../session/holders.ts'
import { said, t } from '../../words/words.ts'
import { Events } from './events.tsx'
import { Policy } from './policy.tsx'
import { Usage } from './usage.tsx'

/** Room, what the policy keeps and lets go, and what happened; for whoever has a key that may look. */
export const Storage = () => {
  const { repository } = useParams({ from: '/r/$repository/storage' })
  const { tab = 'usage' } = useSearch({ from: '/r/$repository/storage' })
  const allowed = useMay()('getStorageUsage', repository)
  return (
    <Page title={t('tab.storage')} lead={t('storage.lead')}>
      {allowed.may ? (
        <>
          <Tabs label={t('tab.storage')} at={tab === 'policy' ? 1 : tab === 'events' ? 2 : 0}>
            {(['usage', 'policy', 'events'] as const).map((each) => (
              <Link
                key={each}
                to="/r/$repository/storage"
                params={{ repository }}
                search={{ tab: each }}
                className={tab === each ? 'active' : ''}
              >
                {said('storage.tab', each)}
              </Link>
            ))}
          </Tabs>
          {tab === 'policy' ? (
            <Policy repository={repository} />
          ) : tab === 'events' ? (
            <Events repository={repository} />
          ) : (
            <Usage repository={repository} />
          )}
        </>
      ) : (
        <Forbidden missing={allowed} />
      )}
    </Page>
  )
}
