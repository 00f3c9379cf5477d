import { statSync } from 'node:fs'
import { ConfigError } from '../../../base/errors/configError.js'
import { type LoadedConfig, loadConfig, type Sources } from '../../../config/loadConfig.js'
import { type Config, isSecret, type OptionName } from '../../../config/options.js'
import { requireAgreement, requireShared } from '../../../config/requireAgreement.js'
import { resolveChains } from '../../../config/resolveChains.js'
import { masterKeyFile } from '../../../tenants/secrets.js'
import { type Finding, reporterOf } from '../finding.js'

const report = reporterOf('configuration')

/** Reads the configuration as `purser serve` would; it is undefined where there is none that could be used. */
export function checkConfiguration(sources: Sources) {
  try {
    const { config, origins, file = 'purser.json' } = loadConfig(sources)
    resolveChains(config.chains, sources.environment, ['api'])
    requireAgreement(config)
    requireShared(config)
    return { config, findings: [...chainsOf(config), ...readableByOthers(config, origins, file)] }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const remedy = 'correct it; docs/operate/configuration.md has every setting'
    return { config: undefined, findings: [report.fault(withoutStop(error.message), remedy)] }
  }
}

function withoutStop(sentence: string): string {
  return sentence.replace(/\.$/, '')
}

function chainsOf({ chains, embeddedChain }: Config): Finding[] {
  if (chains.length > 0)
    return [report.ok(`chains ${chains.map(({ chainId }) => chainId).join(', ')}`)]
  if (embeddedChain) return [report.ok('the embedded development chain only')]
  return [
    report.fault('no chain is configured', 'add "chains" to the configuration file, or a preset'),
  ]
}

/** Files that hold secrets and that other users of the machine may read. */
function readableByOthers(
  { chains, data }: Config,
  origins: LoadedConfig['origins'],
  file: string,
): Finding[] {
  const keys = chains.flatMap(({ executorKeys, treasury }) => [
    ...executorKeys,
    ...(treasury ? [treasury.key] : []),
  ])
  const hasPlainKey = keys.some((key) => typeof key === 'string' && !key.startsWith('env:'))
  const keystores = keys.flatMap((key) =>
    typeof key === 'object' && 'keystore' in key ? [key.keystore] : [],
  )
  const secret = [
    ...((hasPlainKey && origins.chains === 'file') || holdsSecret(origins) ? [file] : []),
    masterKeyFile(data),
    ...keystores,
  ]
  return secret.filter(isReadByOthers).map((path) => {
    const remedy = `chmod 600 ${path}, and rotate its secrets: other users could read them`
    return report.warning(`${path} holds secrets and can be read by other users`, remedy)
  })
}

/** Whether a secret stands in the file itself: one that a variable or another file gives is not there. */
function holdsSecret(origins: LoadedConfig['origins']): boolean {
  return (Object.keys(origins) as OptionName[]).some(
    (name) => isSecret(name) && origins[name] === 'file',
  )
}

function isReadByOthers(path: string): boolean {
  const status = statSync(path, { throwIfNoEntry: false })
  return status?.isFile() === true && (status.mode & 0o044) !== 0
}
