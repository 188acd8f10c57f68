import { useAsk } from '../../contract/asking.ts'
import { Copy } from '../../parts/copy.tsx'
import { Facts, Section } from '../../parts/page.tsx'
import { Shown } from '../../parts/states.tsx'
import { Size, shownAs, Written } from '../../parts/values.tsx'
import { t } from '../../words/words.ts'
import type { OfVersion } from './of.ts'
import { PromoteVersion, VersionLifeline, VersionStages, WhyVersion } from './promotion.tsx'

/** A version: what is in it, where it goes and what keeps it. */
export const Version = ({ repository, name, version }: OfVersion) => {
  const read = useAsk('getNpmVersion', { path: { repository }, query: { package: name, version } })
  return (
    <Section
      title={`${name}@${version}`}
      actions={<PromoteVersion repository={repository} name={name} version={version} />}
    >
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
                    <span key="i" className="line">
                      <code title={found.integrity}>{found.integrity.slice(0, 19)}…</code>
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
            <div className="lines">
              <VersionStages repository={repository} name={name} version={version} />
              <VersionLifeline repository={repository} name={name} version={version} />
              <WhyVersion repository={repository} name={name} version={version} />
            </div>
          </div>
        )}
      </Shown>
    </Section>
  )
}
