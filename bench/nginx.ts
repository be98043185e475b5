/** nginx in its two roles: the fastest canned JSON upstream, and the lowest cost of a proxy. */

import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { FORMAT, SHAPES } from './formats.ts'
import type { FormatName } from './options.ts'
import { type Process, start } from './processes.ts'

export const NGINX_PACKAGE = 'nginx-light'

export function nginxVersion(): string | undefined {
  const { stderr, status } = spawnSync('nginx', ['-v'], { encoding: 'utf8' })
  return status === 0 ? /nginx\/(\S+)/.exec(stderr)?.[1] : undefined
}

/** Answers with canned JSON, selected by the digits of the request's length. */
export function startNginxUpstream(directory: string, port: number, format: FormatName): Promise<Process> {
  const answer = (bytes: number): string => `'${FORMAT[format].answer(bytes)}'`
  return startNginx(directory, port, {
    http: `map $content_length $answer {
      default ${answer(SHAPES.tiny.answerBytes)};
      "~^\\d{5}$" ${answer(SHAPES.tool.answerBytes)};
      "~^\\d{6,}$" ${answer(SHAPES.context.answerBytes)};
    }`,
    location: 'default_type application/json; return 200 $answer;',
  })
}

export function startNginxProxy(directory: string, port: number, upstreamPort: number): Promise<Process> {
  return startNginx(directory, port, {
    http: `upstream canned { server 127.0.0.1:${upstreamPort}; keepalive 1024; keepalive_requests 1000000000; }`,
    location: 'proxy_pass http://canned; proxy_http_version 1.1; proxy_set_header connection ""; proxy_buffering off;',
  })
}

/** A single process without a master, which is easier to measure and stop. */
function startNginx(directory: string, port: number, parts: { readonly http: string; readonly location: string }): Promise<Process> {
  const file = join(directory, `nginx-${port}.conf`)
  writeFileSync(
    file,
    `daemon off; master_process off; pid nginx-${port}.pid; error_log stderr error;
    events { worker_connections 8192; }
    http {
      access_log off; keepalive_requests 1000000000; keepalive_timeout 600s; tcp_nodelay on;
      client_max_body_size 0; client_body_buffer_size 1m; client_body_temp_path body-${port}; proxy_temp_path proxy-${port};
      fastcgi_temp_path fastcgi-${port}; uwsgi_temp_path uwsgi-${port}; scgi_temp_path scgi-${port};
      ${parts.http}
      server { listen 127.0.0.1:${port} backlog=4096; location / { ${parts.location} } }
    }`,
  )
  const outputFile = join(directory, `nginx-${port}.log`)
  return start({ command: 'nginx', args: ['-p', directory, '-c', file], port, outputFile })
}
