/**
 * Traces over OTLP/HTTP, where the configuration or a variable of OpenTelemetry names a receiver. OpenTelemetry's packages read
 * its variables (OTEL_EXPORTER_OTLP_*, OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES, OTEL_TRACES_SAMPLER, OTEL_BSP_*).
 */
import { context, DiagLogLevel, diag, propagation, trace } from '@opentelemetry/api';
import type { Logger } from '../agents/logging/logger.js';
import { readVariable, readVersion } from '../core/environment.js';
import { messageOf, orAborted } from '../core/errors.js';
import { loadOptional } from '../core/optional-package.js';
import { isTracing } from '../core/spans.js';
import type { ConfigFile } from './config-file.js';

const PACKAGES = ['sdk-trace-node', 'exporter-trace-otlp-http', 'resources'].map((name) => `@opentelemetry/${name}`);

/** Time to send the remaining spans when the process stops. */
const FLUSH_MS = 5_000;

/** Base URL of the receiver: the environment overrides the file. Undefined: no tracing. */
export function endpointOf({ tracing }: Pick<ConfigFile, 'tracing'>): string | undefined {
  const isOff = readVariable('OTEL_SDK_DISABLED') === 'true' || readVariable('OTEL_TRACES_EXPORTER') === 'none';
  return isOff ? undefined : (ownEndpoint() ?? tracing?.endpoint);
}

function ownEndpoint(): string | undefined {
  return readVariable('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') ?? readVariable('OTEL_EXPORTER_OTLP_ENDPOINT');
}

/**
 * Runs the work and sends its spans. Where a package is missing, it warns and goes on without traces. An SDK already in the
 * process stays.
 */
export async function withTracing<T>(
  { config, logger }: { config: ConfigFile; logger: Logger },
  work: () => Promise<T>,
): Promise<T> {
  const endpoint = endpointOf(config);
  const opened = endpoint === undefined || isTracing() ? undefined : openTracing(endpoint, logger);
  const end = await opened?.catch((error: unknown) => {
    logger.warn(messageOf(error));
    return undefined;
  });
  return work().finally(end);
}

async function openTracing(endpoint: string, logger: Logger): Promise<() => Promise<void>> {
  const neededBy = 'Tracing (OTEL_EXPORTER_OTLP_ENDPOINT, or tracing.endpoint of the configuration file)';
  const [sdk, { OTLPTraceExporter }, { resourceFromAttributes, detectResources, envDetector }] = await loadOptional(
    () =>
      Promise.all([
        import('@opentelemetry/sdk-trace-node'),
        import('@opentelemetry/exporter-trace-otlp-http'),
        import('@opentelemetry/resources'),
      ]),
    { packages: PACKAGES, neededBy },
  );
  diag.setLogger({ ...SILENT, error: report, warn: report }, DiagLogLevel.WARN);
  const own = resourceFromAttributes({ 'service.name': 'winnow', 'service.version': readVersion() });
  // Values given here override the environment.
  const place = ownEndpoint() === undefined ? { url: `${endpoint.replace(/(?<!\/)\/+$/u, '')}/v1/traces` } : {};
  const provider = new sdk.NodeTracerProvider({
    resource: own.merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new sdk.BatchSpanProcessor(new OTLPTraceExporter(place))],
  });
  provider.register();
  return async () => {
    const ended = orAborted(provider.shutdown(), AbortSignal.timeout(FLUSH_MS));
    await ended.catch((error: unknown) => report(messageOf(error)));
    for (const api of [trace, context, propagation, diag]) api.disable();
  };

  function report(message: string): void {
    logger.warn(`Traces: ${message}`);
  }
}

const SILENT = { info() {}, debug() {}, verbose() {} };
