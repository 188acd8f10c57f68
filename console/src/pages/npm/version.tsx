import { Link, useSearch } from '@tanstack/react-router'
import { useAsk } from '../../contract/asking.ts'
import { AboutAndHistory, aboutOrHistory } from '../../parts/about-and-history.tsx'
import { Copy } from '../../parts/copy.tsx'
import { Facts, Page } from '../../parts/page.tsx'
import { Shown } from '../../parts/states.tsx'
import { Size, shownAs, Written } from '../../parts/values.tsx'
import { t } from '../../words/words.ts'
import { DeleteVersion } from './delete-version.tsx'
import type { OfPackage, OfVersion } from './of.ts'
import { PromoteVersion, VersionLifeline, VersionStages, WhyVersion } from './promotion.tsx'

/** Where in the npm packages of a repository one is. */
export const Way = ({ repository, name, version }: OfPackage & { readonly version?: string }) => (
  <nav className="crumbs" aria-label={t('files.where')}>
    <Link to="/r/$repository/npm" params={{ repository }} search={{}}>
      {t('tab.npm')}
    </Link>
    <span className="sep">/</span>
    <Link to="/r/$repository/npm" params={{ repository }} search={{ package: name }}>
      {name}
    </Link>
    {version === undefined ? null : (
      <>
        <span className="sep">/</span>
        <strong>{version}</strong>
      </>
    )}
  </nav>
)

/** A version: what is in it, where it goes and what keeps it. */
export const Version = (of: OfVersion) => {
  const { repository, name, version } = of
  const open = aboutOrHistory(useSearch({ from: '/r/$repository/npm' }).tab)
  const read = useAsk('getNpmVersion', { path: { repository }, query: { package: name, version } })
  return (
    <Page
      title={`${name}@${version}`}
      mono
      lead={<Way {...of} />}
      actions={
        <>
          <PromoteVersion {...of} />
          <DeleteVersion {...of} />
        </>
      }
    >
      <AboutAndHistory open={open} />
      {open === 'history' ? (
        <div className="aside">
          <VersionLifeline {...of} />
          <WhyVersion {...of} />
        </div>
      ) : (
        <Shown of={read} rows={3}>
          {(found) => (
            <div className="aside">
              <div className="panel">
                {found.deprecated === null ? null : <p className="band warn">{shownAs(found.deprecated)}</p>}
                <Facts
                  facts={[
                    [t('list.size'), <Size key="s" bytes={found.size} />],
                    [t('npm.unpacked'), <Size key="u" bytes={found.unpackedSize} />],
                    [t('npm.files'), found.files],
                    [
                      t('npm.dependencies'),
                      Object.entries(found.dependencies)
                        .map(([of, range]) => `${of} ${range}`)
                        .join(', ') || '–',
                    ],
                    [t('npm.attested'), found.attested ? t('npm.yes') : t('npm.no')],
                    [
                      t('npm.integrity'),
                      <span key="i" className="digest">
                        <code title={found.integrity}>{found.integrity.slice(0, 13)}…</code>
                        <Copy text={found.integrity} what={t('npm.integrity')} />
                      </span>,
                    ],
                  ]}
                />
                {found.readme === null ? null : (
                  <pre className="preview-text">
                    <Written text={found.readme} lines />
                  </pre>
                )}
              </div>
              <VersionStages {...of} />
            </div>
          )}
        </Shown>
      )}
    </Page>
  )
}
