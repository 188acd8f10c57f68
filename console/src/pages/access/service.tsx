import { Switch } from '@mantine/core'
import { Link, useParams } from '@tanstack/react-router'
import { useAsk, useChange } from '../../contract/asking.ts'
import { Facts, Page } from '../../parts/page.tsx'
import { Shown } from '../../parts/states.tsx'
import { tellProblem } from '../../parts/toasts.tsx'
import { Moment, Tag } from '../../parts/values.tsx'
import { said, t } from '../../words/words.ts'
import { History } from './service-history.tsx'
import { Keys } from './service-keys.tsx'
import { Policy } from './service-policy.tsx'

/** A program's account: its policy, its keys and how they are changed without a gap, and its history. */
export const Service = () => {
  const { id } = useParams({ from: '/access/services/$id' })
  const read = useAsk('getServiceAccount', { path: { id } })
  const change = useChange('updateServiceAccount', ['getServiceAccount', 'listServiceAccounts'])
  return (
    <Page
      title={read.data?.name ?? id.slice(0, 8)}
      lead={
        <Link to="/access" search={{ tab: 'services' }}>
          {said('access.tab', 'services')}
        </Link>
      }
    >
      <Shown of={read}>
        {(account) => (
          <>
            <div className="panel">
              <Facts
                facts={[
                  [
                    t('list.state'),
                    <Tag
                      key="s"
                      tone={account.enabled ? 'ok' : 'warn'}
                      text={account.enabled ? t('access.enabled') : t('access.disabled')}
                    />,
                  ],
                  [t('services.made'), <Moment key="m" at={account.createdAt} />],
                  [t('value.id'), <code key="i">{account.id}</code>],
                ]}
              />
              <Switch
                label={t('access.enabled')}
                checked={account.enabled}
                onChange={(event) =>
                  change.mutate(
                    {
                      path: { id },
                      body: { expectedRevision: account.revision, enabled: event.currentTarget.checked },
                    },
                    { onError: tellProblem },
                  )
                }
              />
            </div>
            <Policy account={account} />
            <Keys account={account} />
            <History id={id} />
          </>
        )}
      </Shown>
    </Page>
  )
}
